import json
from dataclasses import replace
from math import dist

import numpy as np
import polars as pl
import pytest

from tests.auditing.making import ALL_ATTACKS, make_data
from veilmap.attacks.methods import METHODS
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings
from veilmap.auditing.unit import Unit, run_unit
from veilmap.geo import Projection
from veilmap.study.train import train
from veilmap.study.trial import trial


@pytest.fixture(scope="module")
def data():
    return make_data()


def make_unit(text="fedavg + farthest:eps_m=50,num=5", targets=("u0", "u1")):
    settings = AuditSettings.of(**{**ALL_ATTACKS, "configurations": [text]})
    ((name, run),) = panel(settings).items()
    return Unit(name, run, settings.attacks(0), targets, True, True)


@pytest.fixture(scope="module")
def result(data):
    return run_unit(make_unit(), data)


def test_there_is_a_row_for_each_attack_and_target(result):
    cases = [(row["target"], row["attack"]) for row in result.rows]
    assert cases == [(target, attack) for target in ("u0", "u1") for attack in METHODS]
    json.dumps([*result.rows, *result.history], allow_nan=False)
    assert all(row["true_places"] <= 5 and 0 < row["points_share"] < 1 for row in result.rows)


def test_a_unit_finds_what_a_trial_finds(data, result):
    unit = make_unit()
    for target in unit.targets:
        who = replace(unit.attacks.who, target=target)
        rows = trial(data, unit.settings, replace(unit.attacks, who=who)).rows()
        own = [row for row in result.rows if row["target"] == target]
        for one, other in zip(own, rows, strict=True):
            common = set(one) & set(other) - {"seconds", "configuration"}
            assert {key: one[key] for key in common} == {key: other[key] for key in common}


def test_the_history_has_a_line_per_attack_target_and_round(result):
    rounds = {line["round"] for line in result.history}
    assert len(result.history) == len(METHODS) * 2 * len(rounds)
    line = result.history[0]
    assert line["predicted_error_m"] is not None
    assert line["bound_m"] >= line["predicted_error_m"]
    assert line["norm"] == pytest.approx(np.linalg.norm(line["layer_norms"]))


def test_the_theorems_are_held_to_what_was_trained_on(data, result):
    unit = make_unit()
    run = train(data, unit.settings)
    kept = result.positions
    for line in result.history:
        attack, user, t = line["attack"], line["target"], line["round"]
        found, chosen = kept.locations[attack, user], kept.chosen[user]
        centroid_m = chosen.xy_m[chosen.rounds == t].mean(axis=0)
        away_m = np.linalg.norm(found.xy_m[found.rounds == t] - centroid_m)
        assert line["distance_trained_m"] == pytest.approx(away_m)
        largest_m = max(run.prepared.plan.scaler.scale_m)
        assert line["bound_m"] == pytest.approx(line["bound_1_std"] * largest_m)
    rmse_db = {record.round: record.rmse_db for record in run.history}
    assert {(line["round"], line["rmse_db"]) for line in result.history} == set(rmse_db.items())
    assert len(set(rmse_db.values())) > 1


def test_the_first_row_of_the_signal_lies_in_the_north(data, result):
    kept = result.positions
    west, south, east, north = kept.box_deg
    rows, columns = kept.signal_dbm.shape
    lat_deg = north - 0.5 * (north - south) / rows
    lon_deg = west + (columns - 0.5) * (east - west) / columns
    predicted = train(data, make_unit().settings).signal_map.predict_at([lat_deg], [lon_deg])
    assert kept.signal_dbm[0, -1] == pytest.approx(predicted[0], abs=1e-3)
    assert np.ptp(kept.signal_dbm) > 0.1


def test_a_cumulative_update_counts_no_point_twice(data):
    found = run_unit(make_unit("cumulative fedavg"), data)
    assert all(row["points_share"] == 1.0 for row in found.rows)


@pytest.mark.parametrize(
    "other",
    [
        lambda unit, data: (replace(unit, with_theory=False), data),
        lambda unit, data: (unit, replace(data, projection=Projection(32631))),
    ],
    ids=["theory", "projection"],
)
def test_what_decides_the_figures_decides_the_digest(data, other):
    unit = make_unit()
    changed, elsewhere = other(unit, data)
    assert changed.digest(elsewhere) != unit.digest(data)


def test_another_version_is_another_digest(data, monkeypatch):
    before = make_unit().digest(data)
    monkeypatch.setattr("veilmap.auditing.unit.version", lambda name: "99")
    assert make_unit().digest(data) != before


def test_positions_are_those_of_the_data(data, result):
    kept = result.positions
    true_m = data.xy_m
    for user in ("u0", "u1"):
        assert {tuple(each) for each in kept.truth[user].xy_m} <= set(map(tuple, true_m))
        assert len(kept.chosen[user].rounds) <= 5 * len(set(kept.truth[user].rounds.tolist()))
        for attack in METHODS:
            assert len(kept.locations[attack, user].rounds) <= len(result.history)
            sums = np.bincount(kept.clouds[attack, user].rounds, kept.clouds[attack, user].weights)
            np.testing.assert_allclose(sums[sums > 0], 1)
    west, south, east, north = kept.box_deg
    assert -0.2 < west < east < 0.0
    assert 51.4 < south < north < 51.6
    assert kept.signal_dbm.shape[0] > 10


def test_homes_are_those_that_the_figures_speak_of(result):
    homes, named = result.positions.homes, result.positions.named_homes
    errors_m = {(row["attack"], row["target"]): row["home_error_m"] for row in result.rows}
    known = {key: error_m for key, error_m in errors_m.items() if error_m is not None}
    assert {key: dist(homes[key[1]], xy_m) for key, xy_m in named.items()} == pytest.approx(known)
    assert known


def test_the_true_home_is_where_the_nights_are_spent(data):
    """Nine hours of a day at home, from 22:00; the other fifteen at one place 400 m east of it."""
    hour = pl.col("time").dt.hour()
    asleep = (hour >= 22) | (hour < 7)
    home_m = data.xy_m.mean(axis=0)
    table = data.table.with_columns(
        x_m=pl.when(asleep).then(home_m[0]).otherwise(home_m[0] + 400.0),
        y_m=pl.lit(home_m[1]) + (pl.col("y_m") - home_m[1]) / 1000,
    )
    kept = run_unit(make_unit("fedavg"), replace(data, table=table)).positions
    for user in ("u0", "u1"):
        assert kept.homes[user] == pytest.approx(home_m, abs=1.0)


def test_points_that_no_defence_chose_are_not_kept_twice(data):
    assert run_unit(make_unit("fedavg"), data).positions.chosen == {}
    assert run_unit(make_unit("fedavg + dp:epsilon=100"), data).positions.chosen == {}


def test_a_run_without_anything_to_attack_is_a_result(data):
    nothing = "fedavg + diverse:eps_m=0.01,min_points=5000,noise=drop"
    found = run_unit(make_unit(nothing), data)
    assert found.rows == ()
    assert "the defence left no phone a point" in found.failed
    diverged = run_unit(make_unit("fedavg:learning_rate=1e6"), data)
    assert "training diverged" in diverged.failed
