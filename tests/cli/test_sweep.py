import json
import re
from pathlib import Path

import polars as pl
import pytest

from tests.cli.test_cli import run

SPEC = """
title = "Two rates"
[settings]
interval = "1d"
hidden = [8]
activations = ["relu"]
dropout = [0.0]
[attacks]
method = "first_layer"
[[runs]]
name = "plain"
configuration = "fedsgd:learning_rate={rate}"
over.rate = [1e-4, 1e-3]
[[claims]]
says = "the rate matters"
kind = "above"
figure = "rmse_db"
high = { rate = 1e-4 }
low = { rate = 1e-3 }
"""


@pytest.fixture
def spec(tmp_path) -> Path:
    path = tmp_path / "rates.toml"
    path.write_text(SPEC)
    return path


def test_a_grid_is_run_shown_judged_and_drawn(capsys, spec, campus_file, tmp_path):
    given = ("--data", campus_file, "--out", tmp_path / "out", "--seeds", "2", "--jobs", "1")
    out, _ = run(capsys, "sweep", spec, *given)
    assert "4 runs\n" in out
    assert "cores busy" in out
    assert re.search(r"^(holds|does not hold|undecided): the rate matters$", out, re.MULTILINE)
    assert (tmp_path / "out" / "frontier.png").exists()
    # A line for both rates: a guess does not depend on how phones are trained.
    assert len(re.findall(r"\bblind\b", out)) == 1
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {row["attack"] for row in content["guesses"]} == {"blind", "prior"}
    assert {row["attack"] for row in content["rows"]} == {"first_layer"}
    rows = pl.read_parquet(tmp_path / "out" / "rows.parquet")
    assert rows.height == 4
    assert rows["key_rate"].unique().sort().to_list() == ["0.0001", "0.001"]
    out, _ = run(capsys, "sweep", spec, *given)
    assert "4 runs (4 cached)" in out
    assert "cores busy" not in out


def test_two_sweeps_can_be_compared(capsys, spec, campus_file, tmp_path):
    for name in ("a", "b"):
        folder = tmp_path / name
        run(
            capsys,
            "sweep",
            spec,
            "--data",
            campus_file,
            "--out",
            folder,
            "--seeds",
            "1",
            "--jobs",
            "1",
        )
    out, _ = run(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert "rates | plain | 0.001" in out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("rate =", "rat ="), "cannot fill"),
        (("learning_rate={rate}", "learning={rate}"), "unknown setting 'learning'"),
        (('kind = "above"', 'kind = "abov"'), "unknown kind of claim 'abov'"),
        (('method = "first_layer"', 'method = "neuron"'), "unknown attack 'neuron'"),
        (("[[runs]]", "[[run]]"), "unknown setting 'run'"),
    ],
)
def test_a_mistake_in_the_file_is_reported_before_anything_runs(
    capsys, spec, change, says, tmp_path
):
    spec.write_text(SPEC.replace(*change))
    _, err = run(capsys, "sweep", spec, "--out", tmp_path / "out", code=2)
    assert says in err
    assert len(err.splitlines()) == 1


def test_a_file_that_is_not_there_is_named(capsys, tmp_path):
    _, err = run(capsys, "sweep", tmp_path / "no.toml", code=2)
    assert "cannot read" in err
