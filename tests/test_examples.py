"""The example scripts and files, on little data."""

import runpy
import sys
from pathlib import Path

import polars as pl
import pytest

from tests.cli.test_cli import run
from tests.conftest import make_measurements
from veilmap.measurements import Measurements
from veilmap.sources.reader import read

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def script(monkeypatch, capsys):
    """Run an example as its own program would, but in this process; gives what it printed."""

    def ran(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return ran


@pytest.fixture
def little(tmp_path):
    path = tmp_path / "little.parquet"
    make_measurements().write_parquet(path)
    return path


def test_the_study_of_defences_prints_tables_and_resumes_where_it_was(script, little, tmp_path):
    command = (
        "defences.py", little, "--target", "u0", "--interval", "1w", "--schemes", "fedsgd",
        "--defences", "", "diverse:eps_m=50", "--seeds", "1", "--jobs", "1",
        "--out", tmp_path / "trials", "--plot", tmp_path / "p",
    )  # fmt: skip
    out = script(*command)
    assert "| diverse:eps_m=50 | " in out
    assert "| diverse:eps_m=50 above plain | " in out
    assert (tmp_path / "p-fedsgd.png").read_bytes().startswith(b"\x89PNG")
    first = {file: file.read_bytes() for file in (tmp_path / "trials").iterdir()}
    assert len(first) == 2
    assert script(*command) == out
    assert {file: file.read_bytes() for file in (tmp_path / "trials").iterdir()} == first
    # What took another time to compute was computed again.
    assert script(*command, "--fresh") == out
    again = {file: file.read_bytes() for file in (tmp_path / "trials").iterdir()}
    assert again.keys() == first.keys()
    assert all(again[file] != first[file] for file in first)


def test_an_audit_from_python_prints_words_and_tables(script, little, tmp_path):
    out = script(
        "audit.py", little, "--seeds", "1", "--interval", "1d", "--configurations", "fedsgd",
        "fedsgd + dp:epsilon=100", "--report", tmp_path / "report.html", "--min-home-error", "30",
    )  # fmt: skip
    assert out.startswith("Baseline (fedsgd:learning_rate=0.001): ")
    # Networks that train for a moment learn less than a constant.
    assert "- No configuration is recommended: no map is better than a constant" in out
    assert "is_on_frontier" in out
    assert (tmp_path / "report.html").exists()


def test_precision_compares_every_attack_on_every_update(script, monkeypatch, little_file):
    monkeypatch.setattr("veilmap.sources.campus.simulate", lambda seed: read(little_file))
    first, second = script("precision.py", "--quick").strip().split("\n\n")
    updates, attacks = (2 + 3 * 2 * each for each in (4, 2))
    assert (first.count("\n") + 1, second.count("\n") + 1) == (updates, attacks)
    assert "| FedSGD, η = 1e-7, raw, fresh | " in first


def test_homes_are_found_by_every_attack_beside_the_guesses(script, tmp_path):
    command = ("find_homes.py", "--seeds", "1", "--people", "3", "--shadows", "20")
    command = (*command, "--sources", "others")
    out = script(*command, "--defence", "random:num=200", "--plot", tmp_path / "r.png")
    table = out.partition("| attack | messages |")[2].splitlines()[2:]
    views = {"single": 0, "sum": 0}
    for line in table:
        _, _, view, *shares, median_m, _ = (cell.strip() for cell in line.split("|"))
        views[view] += 1
        assert all(0 <= float(share.split(" ± ")[0]) <= 1 for share in shares)
        assert float(median_m.split(" ± ")[0]) > 0
    assert views == {"single": 9, "sum": 7}
    assert "3 people found, 20 learned from, 1 seed, random:num=200" in out
    assert "learned from others, seed 0: 4 people set aside" in out
    assert (tmp_path / "r-others-0.png").read_bytes().startswith(b"\x89PNG")


def test_the_sweep_of_broken_phones_is_run_and_judged(capsys, tmp_path):
    """Its broken phones are those of users 2 and 14."""
    crowd = tmp_path / "crowd.parquet"
    table = make_measurements(rows=600, users=15, step_s=3600.0).table
    named = table.with_columns(pl.col("user").str.strip_prefix("u"))
    Measurements.of(named).write_parquet(crowd)
    out, _ = run(
        capsys, "sweep", EXAMPLES / "robust.toml", "--data", crowd, "--seeds", "1", "--jobs", "1",
        "--out", tmp_path / "sweep",
    )  # fmt: skip
    assert "15 runs" in out
    assert "failed" not in out


def test_the_sweep_of_many_local_steps_compares_its_attacks(capsys, tmp_path):
    out, _ = run(
        capsys, "sweep", EXAMPLES / "second_layer.toml", "--quick", "--jobs", "1",
        "--out", tmp_path / "sweep",
    )  # fmt: skip
    assert "3 runs" in out
    assert "failed" not in out
    rows = pl.read_parquet(tmp_path / "sweep" / "rows.parquet")
    assert set(rows["attack"]) == {"search", "first_layer", "heatmap", "rows"}


def test_every_attack_on_every_map_and_defence_is_one_table(capsys, script, tmp_path):
    folder = tmp_path / "sweep"
    spec = EXAMPLES / "who_sees_what.toml"
    run(capsys, "sweep", spec, "--quick", "--jobs", "1", "--out", folder)
    lines = script("who_sees_what.py", folder, folder).splitlines()
    heads = [line.split(" | ")[1:] for line in lines if line.startswith(("| network", "| kriging"))]
    assert [head[-2:] for head in heads] == [["blind", "prior |"]] * 2
    assert heads[0][:-2] == ["search", "first_layer", "heatmap", "rows", "joint"]
    assert "learned" in heads[1]
    cells = next(line for line in lines if "fedsgd:learning_rate=1e-3, raw" in line).split(" | ")
    assert all(len(set(cell.strip(" |").split(" / "))) == 1 for cell in cells[1:])


def test_squares_of_a_sum_are_counted_by_the_nodes_in_it(script):
    out = script("squares_in_a_sum.py", "--users", "6", "--days", "2")
    heading, *lines = out.splitlines()
    assert heading.split() == ["nodes", "squares", "in", "a", "sum", "of", "one", "node"]
    shares = [int(line.split()[2].rstrip("%")) for line in lines]
    assert len(lines) == 4
    assert all(0 < share <= 100 for share in shares)
