# make audit     audit the simulated campus: how near the server comes, and which defence helps
# make test      all tests but the next; in another order every time
# make processes tests that start processes: servers and nodes, workers, commands that are killed
# make coverage  which lines and branches the tests run; minutes
# make faults    kill every command again and again, and compare the results; minutes
# make fuzz      20,000 hostile cases for every reader: an hour or two; SEED=n repeats a run
# make check     format, lint, types, direction of imports
# make lock-check  can every system and Python install the lock?
# make wheel     build the wheel, and try it in an empty environment
# make bench     speed beside the usual libraries: tables, and bench.json

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: audit test processes coverage faults fuzz check lock-check wheel bench clean

audit: $(READY)
	$(BIN)/veilmap audit --out runs/audit

# One core for each test: they run side by side as they are.
test processes coverage: export OMP_NUM_THREADS := 1
test processes coverage: export LOKY_MAX_CPU_COUNT := 1
test processes coverage: export POLARS_MAX_THREADS := 1
test: $(READY)
	$(BIN)/python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder

# In a fixed order: the tests of a federation on machines build on each other.
processes: $(READY)
	$(BIN)/python -m pytest -m '(machines or processes) and not faults' -p no:randomly --numprocesses 3 --dist loadfile --no-loadscope-reorder

# First the rooms that compute, of which 95 in 100 lines and branches must be run by the tests.
CORE := $(addprefix src/veilmap/,area.py local_data.py rounds.py theory.py metrics model defences federation attacks)
coverage: $(READY)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m 'not faults and not machines' --numprocesses logical --dist loadfile
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under 95 $$(find $(CORE) -name '*.py')
	$(BIN)/coverage report

faults: $(READY)
	$(BIN)/python -m pytest -m faults --capture=no tests/killing

# Make shows the command, and with it the seed.
fuzz: SEED := $(or $(SEED),$(shell od -An -N3 -tu4 /dev/urandom | tr -d ' '))
fuzz: $(READY)
	VEILMAP_FUZZ=long $(BIN)/python -m pytest tests/fuzz --durations 0 --hypothesis-seed $(SEED)

check: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# Only files whose hashes are listed, and wheels alone: nothing that is fetched runs before it is
# known.
$(READY): pyproject.toml locked.txt locked-cpu.txt locked-shared.txt tools/install.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/install.py
	touch $@

# Asks the public index alone, whatever is set for pip on this machine; nothing is downloaded.
lock-check: $(READY)
	$(BIN)/python tools/lock.py --check

# Builds the wheel and tries it in an empty environment, without torch.
wheel: $(READY)
	$(BIN)/python tools/try_wheel.py

clean:
	rm -rf $(VENV) runs
