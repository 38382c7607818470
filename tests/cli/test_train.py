"""What ``veilmap train`` says of a map."""

import json
import re
from types import SimpleNamespace

import pytest

from tests.cli.test_cli import DAILY, SMALL, run
from veilmap.area import Area
from veilmap.cli.train import _worth
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.metrics.map_errors import SquaredErrors

KRIGING, NETWORK = KrigingMap(), NetworkMap()


def table_of(out):
    """The figures after each name of the table at the end."""
    rows = (re.fullmatch(r" *(\S.*?) {2,}([\d.]+) +([\d.]+) +(\S+)", s) for s in out.splitlines())
    return {row[1]: row.groups()[1:] for row in rows if row}


AREA = Area(0.0, 0.0, 1000.0, 1000.0)


def finished(rmse_by_place_db, share, family=KRIGING, defences=(), central_db=4.0):
    """A run whose constant has 6 dB by place."""
    errors = SquaredErrors(25.0, 36.0), SquaredErrors(25.0, central_db**2)
    return SimpleNamespace(
        map_figures={"rmse_by_place_db": rmse_by_place_db, "share_of_central": share},
        prepared=SimpleNamespace(
            yardstick=SimpleNamespace(constant=errors[0], central=errors[1]),
            plan=SimpleNamespace(map=family, area=AREA),
        ),
        defences=defences,
    )


@pytest.mark.parametrize("options", [DAILY, SMALL], ids=["kriging", "network"])
def test_the_table_has_the_figures_of_the_results(capsys, campus_file, tmp_path, options):
    out, _ = run(capsys, "train", campus_file, *options, "--out", tmp_path)
    (row,) = json.loads((tmp_path / "results.json").read_text())["rows"]
    shown = table_of(out)
    assert list(shown) == ["the map", "the constant (mean) baseline", "kriging of all measurements"]
    figures = row["rmse_db"], row["rmse_by_place_db"], row["skill_by_place"]
    assert shown["the map"] == tuple(f"{value:.2f}" for value in figures)
    constant = shown["the constant (mean) baseline"]
    assert (constant[0], constant[2]) == (f"{row['rmse_constant_db']:.2f}", "0.00")
    central = float(shown["kriging of all measurements"][2])
    assert row["share_of_central"] == pytest.approx(row["skill_by_place"] / central, rel=0.02)


def test_kriging_says_its_squares_and_its_messages(capsys, campus_file):
    out, _ = run(capsys, "train", campus_file, *DAILY, "--square", "100", "--layout", "sparse")
    words = " ".join(out.split())
    assert re.search(r"map kriging over \d+ x \d+ squares of 100 m, fitted kernel", words)
    assert "messages all squares visited in the round, sparse, 6 bytes each" in words
    assert re.search(r"\nround +1 .* \d+ squares? ", out)
    assert "η" not in out
    most = ("--most-squares", "1", "--kernel", "public")
    words = " ".join(run(capsys, "train", campus_file, *DAILY, *most)[0].split())
    assert "public kernel" in words
    assert re.search(r"messages at most 1 square visited in the round, dense, [\d.]+ KiB", words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--learning-rate", "0.01"],
            "the map kriging has no setting learning-rate; leave out, or",
        ),
        (["--hidden", "8", "8"], "the map kriging has no setting hidden; leave out, or train the"),
        ([*SMALL, "--square", "50"], "the map network has no setting square; leave out, or take -"),
        (["--map", "kriging:square=50,bits=8"], "bits must be 16 or 32, got 8"),
        (["--map", "kriging:squares=50"], "unknown setting 'squares'; "),
        (["--square", "-1"], "square_m must be a number of metres above 0, got -1.0"),
        (["--square", "0.01"], "fit into memory; take --square 5"),
        (["--most-squares", "0"], "most_squares must be a whole number of at least 1, got 0"),
        (["--kernel", "gauss"], "--kernel"),
        (["--cumulative"], "the map kriging forgets no round, so phones must not send one twice"),
        (["--aggregation", "median"], "the map kriging does not follow aggregation median"),
        (["--defence", "dp:epsilon=1"], "dp alters updates, and messages of the map kriging are"),
    ],
)
def test_what_the_map_does_not_have_is_one_line_and_exit_code_2(
    capsys, campus_file, tmp_path, options, message
):
    _, err = run(capsys, "train", campus_file, *options, "--out", tmp_path / "run", code=2)
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_settings_of_kriging_stand_in_a_file_too(capsys, campus_file, tmp_path):
    config, out = tmp_path / "run.toml", tmp_path / "run"
    config.write_text('[task]\ninterval = "1d"\n[kriging]\nsquare_m = 60\nkernel = "public"\n')
    run(capsys, "train", campus_file, "--config", config, "--kernel", "fitted", "--out", out)
    kriging = json.loads((out / "settings.json").read_text())["kriging"]
    assert (kriging["square_m"], kriging["kernel"]) == (60, "fitted")


def test_an_attack_that_cannot_read_squares_names_the_one_that_can(capsys, campus_file, tmp_path):
    run(capsys, "train", campus_file, *DAILY, "--out", tmp_path / "run")
    _, err = run(capsys, "attack", tmp_path / "run", "--method", "dlg", code=2)
    assert (
        "no attack asked for can read the map kriging: dlg; add to --method one of: squares" in err
    )
    out, _ = run(capsys, "attack", tmp_path / "run", "--plot")
    assert "squares" in out
    assert (tmp_path / "run" / "attack" / "heatmap-squares.png").exists()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            finished(4.0, 0.874),
            "the map has 87% of the skill of kriging all measurements central",
        ),
        (finished(4.0, None), "the map is better than the constant, and than kriging of all meas"),
        (finished(6.0, 0.1, NETWORK), "no better than a constant; train with --map kriging$"),
        (
            finished(6.0, 0.1, NETWORK, ("step",)),
            "train with --map kriging; a run without --defence shows its cost$",
        ),
        (
            finished(6.0, None, central_db=5.9),
            "nor is kriging of all measurements: .*; measure in more places$",
        ),
        (
            finished(6.0, 0.1, KrigingMap(square_m=500.0)),
            "no better than a constant; take smaller squares with --square$",
        ),
        (finished(6.0, 0.1), "no better than a constant; it needs more places or more rounds$"),
        (finished(6.0, 0.1, KRIGING, ("step",)), "more rounds; a run without --defence shows its"),
    ],
)
def test_what_a_map_is_worth_is_one_sentence_with_the_way_out(made, said):
    assert re.search(said, _worth(made))
