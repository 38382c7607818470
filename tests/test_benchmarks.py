"""The benchmarks run, and their record is whole; what they measure is for ``make bench``."""

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
# Those that take seconds in the quick form.
CHEAP = ("simulate_campus", "secure_sum")

pytestmark = pytest.mark.processes


def run(*arguments, folder=BENCHMARKS):
    command = [sys.executable, str(folder / "run.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "bench.json"
    done = run(*CHEAP, "--quick", "--out", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text()), done.stdout


@pytest.fixture
def timing(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("timing")


def test_the_record_says_what_was_measured_on_what(record):
    content, _ = record
    assert list(content["figures"]) == list(CHEAP)
    assert (content["quick"], content["skipped"], content["failed"]) == (True, {}, [])
    about = content["machine"]
    assert about["cores"] >= 1
    assert about["libraries"]["torch"]
    assert set(about) >= {
        "date",
        "commit",
        "cpu",
        "caches",
        "memory_gb",
        "python",
        "blas",
        "threads",
    }


def test_every_benchmark_prints_a_table(record):
    _, out = record
    for text in ("a simulated campus", "a secure sum"):
        assert text in out


def test_candidates_take_turns(timing):
    """A busy spell of the machine must meet all of them."""
    order = []
    found = timing.in_turn({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order == ["a", "b"] * 3
    assert found["a"]["seconds_least"] <= found["a"]["seconds"] <= found["a"]["seconds_most"]
    assert found["b"]["repeats"] == 3


def test_the_peak_of_a_process_is_its_own(timing):
    """50 MB in a small process, told by this one, which has grown to more than 250."""
    ours = np.ones(25_000_000)
    ran = timing.process([sys.executable, "-c", "print(len(bytearray(50_000_000)))"])
    assert ours.nbytes > 190e6
    assert 50 < ran["peak_mb"] < 100
    assert ran["output"].strip() == "50000000"
    with pytest.raises(SystemExit, match="exit code 3"):
        timing.process([sys.executable, "-c", "raise SystemExit(3)"])


def test_what_is_missing_is_reported_and_the_others_continue(tmp_path):
    """In a copy whose first two benchmarks ask for what no machine has."""
    for path in BENCHMARKS.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "ceiling.py").write_text("import no_such_module\n")
    (tmp_path / "train.py").write_text(
        "from command import MissingError\n"
        "def measure(quick): raise MissingError('no such card')\nshow = print\n"
    )
    (tmp_path / "attack.py").write_text("def measure(quick): return {'a': 1}\nshow = print\n")
    out = tmp_path / "bench.json"
    done = run("ceiling", "train", "attack", "--quick", "--out", out, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    missing = {"ceiling": "No module named 'no_such_module'", "train": "no such card"}
    assert all(f"skipped: {reason}" in done.stdout for reason in missing.values())
    content = json.loads(out.read_text())
    assert content["skipped"] == missing
    assert content["figures"] == {"attack": {"a": 1}}


def test_an_unknown_benchmark_is_refused_with_the_known_ones():
    done = run("atack")
    assert done.returncode == 2
    assert re.search(r"unknown benchmark 'atack'; choose from: ceiling, train, attack", done.stderr)
