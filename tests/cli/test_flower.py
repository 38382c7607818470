"""``veilmap flower``: the mistakes that people make; the rest is in tests/flower."""

import re
import subprocess
import sys

import pytest

from tests.conftest import make_measurements
from veilmap.cli import main

PUBLIC = ("--cell", "a", "--area", "-0.12", "51.49", "-0.08", "51.51", "--label-offset", "-96")
RUN = ("--out", "out", "--first", "2024-01-01", "--rounds", "2", "--interval", "1d")
MISSING = """
import sys
sys.modules[{module!r}] = None
from veilmap.cli import main
main({words!r})
"""


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)

    def fails(*words):
        with pytest.raises(SystemExit) as end:
            main(list(words))
        assert end.value.code == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    return fails


@pytest.mark.processes
@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [
        ("flwr", ["flower", "join", "node.toml"], "veilmap[flower]"),
        ("flwr", ["flower", "run", "s", "--out", "o", "--first", "x", "--rounds", "1"], "[flower]"),
        ("ray", ["flower", "simulate", "campus", "--out", "out"], "veilmap[simulation]"),
    ],
)
def test_a_missing_extra_is_named(tmp_path, module, words, extra):
    code = MISSING.format(module=module, words=words)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert extra in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.processes
def test_help_needs_no_extra():
    code = MISSING.format(module="flwr", words=["flower", "--help"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "serve" in done.stdout


def test_a_folder_without_a_server_says_how_to_start_one(run):
    for words in (("nodes", "s"), ("expel", "s", "x"), ("run", "s", *RUN, *PUBLIC)):
        error = run("flower", *words)
        assert "veilmap flower serve s" in error or "no node is called" in error


def test_what_a_server_cannot_know_is_asked_for_at_once(run):
    error = run("flower", "run", "s", *RUN)
    for option in ("--cell", "--area", "--label-offset"):
        assert option in error


def test_a_finished_run_is_refused_before_the_server_is_asked(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").write_text("{}")
    assert "holds a finished run; choose another --out\n" in run(
        "flower", "run", "s", *RUN, *PUBLIC
    )


def test_a_node_says_what_is_wrong_with_its_file(run, tmp_path):
    assert "cannot read nowhere.toml" in run("flower", "join", "nowhere.toml")
    (tmp_path / "node.toml").write_text('[node]\ndata = "gone.csv"\n')
    assert "gone.csv" in run("flower", "join", "node.toml")
    make_measurements(rows=60).write_parquet(tmp_path / "two.parquet")
    (tmp_path / "node.toml").write_text('[node]\ndata = "two.parquet"\n')
    assert "2 users; set [node] user to one of: " in run("flower", "join", "node.toml")
    (tmp_path / "node.toml").write_text('[node]\ndata = "two.parquet"\nuser = "u0"\n')
    assert "ca.pem" in run("flower", "join", "node.toml")


def test_an_address_that_is_none_is_refused(run):
    assert "got 'everywhere'" in run("flower", "serve", "s", "--listen", "everywhere")


def test_on_windows_it_says_where_it_runs(run, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    for name in [name for name in sys.modules if name.startswith("veilmap.cli.flower")]:
        monkeypatch.delitem(sys.modules, name)
    assert "needs Linux or macOS" in run("flower", "nodes", "server")


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--epochs", "3"), r"the map kriging has no setting (--)?epochs; leave out, or train"),
        (("--map", "network", "--layout", "sparse"), r"the map network has no setting (--)?layout"),
        (("--most-norm", "5"), "the map kriging has no setting --most-norm; leave it out"),
        (("--defence", "dp:epsilon=8"), "dp alters updates, and messages of the map kriging"),
        (("--square", "0.01"), "that fit into memory; take --square"),
    ],
)
def test_settings_that_the_kind_of_map_does_not_have_are_refused(run, options, found):
    error = run("flower", "run", "s", *RUN, *PUBLIC, *options)
    assert re.search(found, error)
    assert "veilmap flower serve" not in error


@pytest.mark.parametrize(
    "options", [(), ("--map", "network", "--epochs", "3"), ("--most-squares", "5")]
)
def test_settings_of_either_map_are_taken(run, options):
    """The next thing that is missing is the server."""
    assert "veilmap flower serve s" in run("flower", "run", "s", *RUN, *PUBLIC, *options)


@pytest.mark.parametrize("words", [("--epochs", "3"), ("--map", "network", "--most-squares", "5")])
def test_a_simulation_refuses_them_too(run, words):
    pytest.importorskip("ray")
    assert "has no setting" in run("flower", "simulate", "campus", "--out", "out", *words)
