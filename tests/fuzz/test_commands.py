import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.edits import NUMBERS, TEXTS, TIMES
from tests.fuzz.guard import FORM, LONGEST, limited
from tests.fuzz.measurement_files import CSV
from tests.fuzz.records import RECORDS, RESULTS
from veilmap.cli import main
from veilmap.cli.app import make_app
from veilmap.shell import option_name

# A command and its arguments when nothing hostile is given: valid, and over before it trains.
COMMANDS = {
    "audit": "gone.csv",
    "inspect": "data.csv",
    "train": "gone.csv",
    "quality": "gone.csv",
    "attack": "gone",
    "sweep": "gone.toml",
    "reproduce": "tab:radiocells --data gone.csv",
    "compare": "a.json b.json",
    "map": "run --out map.tif",
    "tune": "gone.csv",
    "methods": "",
    "stitch": "data.csv --out taken",
    "simulate campus": "--out taken",
    "simulate london": "--out taken",
    "flower serve": "taken",
    "flower admit": "taken taken --name a",
    "flower expel": "taken a",
    "flower nodes": "taken",
    "flower stop": "taken",
    "flower join": "gone.toml",
    "flower run": "taken --out run --first 2024-01-01 --rounds 1",
    "flower simulate": "gone.csv --out run",
}
# Options that say which data: with others than ours a command may begin to work in earnest.
KEPT = {"--data", "--file", "--out", "--overwrite", "--state", "--run", "--path", "--a", "--b"}
SIMPLE = ("1", "0.5", "a", "campus", "none", "mean", "fedavg", "farthest:eps_m=50,num=20", "all")
values = st.lists(
    st.sampled_from([each for each in (*NUMBERS, *TIMES, *TEXTS, *SIMPLE) if "\0" not in each]),
    min_size=0,
    max_size=4,
)


@cache
def options(command: str) -> tuple[str, ...]:
    """All of its options, of which ``KEPT`` stay as they are."""
    app = make_app()
    for name in command.split():
        app = app[name]
    names = (argument.names[0] for argument in app.assemble_argument_collection())
    found = (name.removeprefix("--").replace("-", "_") for name in names if name.startswith("--"))
    return tuple(sorted({f"--{option_name(name)}" for name in found} - KEPT)) or ("--unknown",)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_bytes(CSV)
    (tmp_path / "taken").write_text("a file")
    for number, name in enumerate(("a.json", "b.json")):
        (tmp_path / name).write_text(json.dumps(RESULTS | {"number": number}))
    model = RECORDS["model.safetensors"]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.safetensors").write_bytes(model.pack(model.inside))


def run(capsys, arguments):
    """The exit code and what was said on standard error."""
    code = 0
    try:
        with limited():
            main(arguments)
    except SystemExit as end:
        code = end.code
    return code, capsys.readouterr().err


lines = st.sampled_from(list(COMMANDS)).flatmap(
    lambda command: st.tuples(
        st.just(command),
        st.dictionaries(st.sampled_from(options(command)), values, min_size=1, max_size=2),
    )
)


def test_hostile_options_are_taken_or_refused_in_one_line(place, capsys):
    @FORM
    @given(lines)
    def one(line):
        command, hostile = line
        extra = [each for name, given_ in hostile.items() for each in (name, *given_)]
        code, said = run(capsys, [*command.split(), *COMMANDS[command].split(), *extra])
        assert code in (0, 2), said
        if code == 2:
            *_, last = said.splitlines()
            assert last.startswith("veilmap: error: ")
            assert len(last) <= LONGEST
            assert "Traceback" not in said

    one()
