"""Data without a map or a way: every step ends in figures or a sentence, and none in NaN."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.auditing.making import ON_NETWORKS
from tests.cli.test_cli import run
from tests.conftest import make_measurements
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.measurements import Measurements
from veilmap.metrics.scores import Scores
from veilmap.study.attack import attack
from veilmap.study.attack_files import attack_results
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.degenerate import ONE_PLACE, ONE_SIGNAL
from veilmap.study.evidence.evidence import KeptUpdates, evidence_of
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings

LAYERS = {"hidden": [8, 6], "activations": ["relu", "sigmoid"], "dropout": [0.0, 0.0]}
LITTLE = {"map": "network", **LAYERS}
OPTIONS = [
    *("--map", "network", "--hidden", "8", "6", "--activations", "relu", "sigmoid"),
    *("--dropout", "0", "0"),
]
QUICK = {"max_iterations": 20, "grid_cells": 16, "finest_m": 200.0}
ONE_LAT, ONE_LON, ONE_DBM = (
    pl.lit(value).alias(name)
    for name, value in {"lat_deg": 51.5, "lon_deg": -0.1, "rsrp_dbm": -90.0}.items()
)
DATA = {
    "one place": (ONE_LAT, ONE_LON),
    "one signal": (ONE_DBM,),
    "one place and signal": (ONE_LAT, ONE_LON, ONE_DBM),
    "a line": (ONE_LON,),
}
SAID = {
    "one place": [ONE_PLACE],
    "one signal": [ONE_SIGNAL],
    "one place and signal": [ONE_SIGNAL, ONE_PLACE],
    "a line": [],
}


COLUMNS = ("user", "cell", "time", "lat_deg", "lon_deg", "rsrp_dbm", "accuracy_m")


def degenerate(name):
    data = make_measurements(rows=60, step_s=3000.0)
    return Measurements.of(data.table.select(COLUMNS).with_columns(*DATA[name]))


def refuse(constant):
    raise AssertionError(f"{constant} in JSON")


def read(path):
    return json.loads(path.read_bytes(), parse_constant=refuse)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("options", [OPTIONS, []], ids=["network", "kriging"])
def test_from_training_to_attack_nothing_is_nan_and_the_reason_is_said(
    name, options, tmp_path, capsys
):
    path = tmp_path / "data.parquet"
    degenerate(name).write_parquet(path)
    out, _ = run(capsys, "train", path, *options, "--interval", "1d", "--out", tmp_path / "run")
    told, _ = run(
        capsys, "attack", tmp_path / "run", "--max-iterations", "20", "--grid-cells", "16",
        "--finest", "200", "--theory",
    )  # fmt: skip
    for text in SAID[name]:
        assert text in out
    worth = ("\nthe map keeps ", "\nthe map is better ", "\nthe map is no better ")
    assert any(text in out for text in worth) == (not SAID[name])
    assert (ONE_PLACE in told) == ("one place" in name)
    assert "nan" not in out + told
    for file in (tmp_path / "run").rglob("*.json"):
        read(file)


def seen_with(after):
    """One update of u0, and where it really was."""
    data = make_measurements(rows=40)
    prepared = prepare(data, RunSettings.of(**LITTLE, interval="1w"))
    this = prepared.rounds[0]
    weights = prepared.plan.network.initialise(0)
    update = Observation.of_weights(this.number, "u0", weights, after(weights), 5, this.start_s)
    return evidence_of(prepared, [update])


UPDATES = {
    "zero": lambda w: w,
    "the last bias alone": lambda w: w + np.eye(1, len(w), len(w) - 1, dtype=np.float32)[0],
    "the smallest number": lambda w: np.where(w == 0, np.float32(1e-45), w),
    "huge": lambda w: w + np.float32(1e30) * np.sin(np.arange(len(w), dtype=np.float32)),
}


@pytest.mark.parametrize("name", UPDATES)
def test_every_attack_ends_in_figures_or_a_sentence_whatever_the_update(name):
    result = attack(seen_with(UPDATES[name]), AttackSettings.of(**QUICK))
    assert set(result.every) == set(ON_NETWORKS)
    json.dumps(attack_results(result), allow_nan=False)
    for (each,) in result.found.values():
        assert np.isfinite(each.cosine)
        assert np.isfinite(each.xy_m).all() or each.outcome.name in ("NO_SIGNAL", "NOT_FINITE")
    assert np.isfinite(result.norms[1]).all()


def test_a_zero_update_names_no_location_and_says_why(tmp_path, capsys):
    """At a rate that is zero in float32; biases that start at 0 bear any other."""
    path = tmp_path / "data.parquet"
    make_measurements(rows=60).write_parquet(path)
    run(capsys, "train", path, *OPTIONS, "--learning-rate", "1e-60", "--out", tmp_path / "run")
    told, _ = run(capsys, "attack", tmp_path / "run", "--method", "search,heatmap")
    reason = "what it reads of the update is zero, which says nothing about a location"
    for name in ("search", "heatmap"):
        assert f"{name} found no location in 1 of 1 round: {reason}" in told
    content = read(tmp_path / "run" / "attack" / "results.json")
    assert [line["outcome"] for line in content["history"]] == ["no_signal"] * 2
    assert [row["emd_m"] for row in content["rows"]] == [None, None]


def test_scores_that_are_no_number_are_refused_where_they_arise():
    with pytest.raises(UserError, match="emd_m must be finite or None, got nan"):
        Scores(rounds=1, emd_m=float("nan"))


def test_recorded_nothing_is_an_error_that_says_what_may_be_wrong():
    seen = seen_with(UPDATES["zero"])
    empty = replace(seen, updates=KeptUpdates(seen.updates.header, []))
    with pytest.raises(UserError, match="or what phones sent was no update; train again"):
        attack(empty, AttackSettings.of(**QUICK))
