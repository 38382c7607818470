import json

import pytest

from tests.cli.test_cli import run
from veilmap.study.train import train


@pytest.fixture(scope="module")
def runs(small_campus, tmp_path_factory):
    """One run as usual, and one with a network of another size."""
    folder = tmp_path_factory.mktemp("runs")
    given = {"map": "network", "activations": ("tanh",), "dropout": (0.05,), "interval": "1d"}
    for name, hidden in (("a", 16), ("b", 8)):
        train(small_campus, out=folder / name, hidden=(hidden,), **given)
    return folder / "a", folder / "b"


def rmse_db(folder):
    return json.loads((folder / "results.json").read_text())["rows"][0]["rmse_db"]


def test_two_runs_are_shown_with_what_differs(capsys, runs):
    a, b = runs
    out, _ = run(capsys, "compare", a, b)
    lines = [line.split() for line in out.splitlines()]
    assert ["model.hidden", "[16]", "[8]"] in lines
    assert "data: the same\nversions: the same\n" in out
    ours, theirs = rmse_db(a), rmse_db(b)
    numbers = [f"{ours:.3f}", f"{theirs:.3f}", f"{theirs - ours:+.3f}", "-", "1"]
    assert ["rmse_db", *numbers] in lines
    assert "seconds" not in out


def test_attacks_are_compared_by_the_figures_asked_for(capsys, runs):
    folders = [folder / "attack" for folder in runs]
    for folder in folders:
        run(capsys, "attack", folder.parent, "--method", "first_layer", "--overwrite")
    out, _ = run(capsys, "compare", *folders, "--figures", "nearest_m", "work_error_m")
    assert "data: not known to be the same" in out
    assert ", first_layer on user " in out
    # A run in memory has no ground truth.
    assert ["nearest_m", "-", "-", "-", "-", "0"] in [line.split() for line in out.splitlines()]
    assert "emd_paper" not in out


def test_json_has_every_figure_and_nothing_else_is_printed(capsys, runs):
    out, _ = run(capsys, "compare", *runs, "--json")
    found = json.loads(out)
    assert found["same_data"] is True
    assert {"name": "model.hidden", "a": [16], "b": [8]} in found["settings"]
    assert set(found["rows"][0]["figures"]) == set(found["figures"]) >= {"rmse_db", "seconds"}


def write(folder, *rows):
    folder.mkdir()
    content = {"schema": 1, "settings": {}, "rows": rows, "history": []}
    (folder / "results.json").write_text(json.dumps(content))
    return folder


def test_intervals_gaps_and_lonely_rows_are_shown(capsys, tmp_path):
    """Differences 1, 2, 3: 2 ± 2.484; home is known to B alone."""
    case = {"configuration": "fedavg", "attack": "search", "target": "u"}
    ours = [{**case, "seed": n, "rmse_db": 5, "home_error_m": None} for n in range(3)]
    theirs = [{**case, "seed": n, "rmse_db": 6 + n, "home_error_m": 1234.5} for n in range(5)]
    out, _ = run(capsys, "compare", write(tmp_path / "a", *ours), write(tmp_path / "b", *theirs))
    lines = [line.split() for line in out.splitlines()]
    assert ["rmse_db", "5.000", "7.000", "+2.000", "-0.484", "…", "+4.484", "3"] in lines
    assert ["home_error_m", "-", "1,234.500", "-", "-", "0"] in lines
    assert "\nonly in B: fedavg, search on user u, seeds 3, 4\n" in out


def test_what_no_row_has_is_said(capsys, tmp_path):
    case = {"configuration": "fedavg", "target": None, "seed": 0, "rmse_db": 5.0}
    a, b = (write(tmp_path / name, {**case, "attack": name}) for name in ("dlg", "search"))
    out, _ = run(capsys, "compare", a, b)
    assert "no rows have one of these figures on both sides: rmse_db, skill_by_place" in out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ["--figures", "rmse"],
            "unknown figure 'rmse'; choose one of: rmse_by_place_db, rmse_const",
        ),
        (["--figures", "rmse", "--json"], "unknown figure 'rmse'"),
    ],
)
def test_an_unknown_figure_is_one_line(capsys, runs, more, message):
    out, err = run(capsys, "compare", *runs, *more, code=2)
    assert message in err
    assert out == ""


def test_a_folder_without_results_is_one_line(capsys, runs, tmp_path):
    _, err = run(capsys, "compare", runs[0], tmp_path, code=2)
    assert err.count("\n") == 1
    assert "has no results.json" in err
