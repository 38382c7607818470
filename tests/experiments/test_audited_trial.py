"""The trials of an audit: several targets, history and positions."""

import json
from dataclasses import replace
from math import dist

import numpy as np
import polars as pl
import pytest

from tests.auditing.making import ALL_ATTACKS, ON_NETWORKS, make_data
from tests.experiments.making import run
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings
from veilmap.experiments.trial import Trial
from veilmap.study.train import train


@pytest.fixture(scope="module")
def data():
    return make_data()


def make_trial(text="fedavg + farthest:eps_m=50,num=5", targets=("u0", "u1")):
    settings = AuditSettings.of(**{**ALL_ATTACKS, "configurations": [text]})
    ((name, given),) = panel(settings).items()
    keep = frozenset({"history", "positions"})
    return Trial(name, given, targets, settings.attacks(0), theory=True, keep=keep)


@pytest.fixture(scope="module")
def result(data):
    return run(make_trial(), data)


def test_there_is_a_row_for_each_attack_and_target(result):
    cases = [(row.target, row.attack) for row in result.rows]
    assert cases == [(target, attack) for target in ("u0", "u1") for attack in ON_NETWORKS]
    lines = [each.as_dict() for each in (*result.rows, *result.history)]
    json.dumps(lines, allow_nan=False)
    for row in result.rows:
        assert row.sent.true_places <= 5
        assert 0 < row.sent.points_share < 1
        assert row.scores.places == ()


def test_the_history_has_a_line_per_attack_target_and_round(result):
    rounds = {line.attacked.round for line in result.history}
    assert len(result.history) == len(ON_NETWORKS) * 2 * len(rounds)
    line = result.history[0]
    assert line.attacked.predicted_error_m is not None
    assert line.bound_m >= line.attacked.predicted_error_m
    assert line.norm == pytest.approx(np.linalg.norm(line.attacked.layer_norms))


def test_the_theorems_are_held_to_what_was_trained_on(data, result):
    trained = train(data, make_trial().settings)
    kept = result.positions
    for line in result.history:
        attack, user, t = line.attacked.attack, line.target, line.attacked.round
        found, chosen = kept.locations[attack, user], kept.chosen[user]
        centroid_m = chosen.xy_m[chosen.rounds == t].mean(axis=0)
        away_m = np.linalg.norm(found.xy_m[found.rounds == t] - centroid_m)
        assert line.distance_trained_m == pytest.approx(away_m)
        largest_m = max(trained.prepared.plan.scaler.scale_m)
        assert line.bound_m == pytest.approx(line.attacked.bound_1_std * largest_m)
    rmse_db = {record.round: record.rmse_db for record in trained.history}
    assert {(line.attacked.round, line.rmse_db) for line in result.history} == set(rmse_db.items())
    assert len(set(rmse_db.values())) > 1


def test_the_first_row_of_the_signal_lies_in_the_north(data, result):
    kept = result.positions
    west, south, east, north = kept.box_deg
    rows, columns = kept.signal_dbm.shape
    lat_deg = north - 0.5 * (north - south) / rows
    lon_deg = west + (columns - 0.5) * (east - west) / columns
    predicted = train(data, make_trial().settings).signal_map.predict_at([lat_deg], [lon_deg])
    assert kept.signal_dbm[0, -1] == pytest.approx(predicted[0], abs=1e-3)
    assert np.ptp(kept.signal_dbm) > 0.1


def test_a_cumulative_update_counts_no_point_twice(data):
    found = run(make_trial("cumulative fedavg"), data)
    assert all(row.sent.points_share == 1.0 for row in found.rows)


def test_positions_are_those_of_the_data(data, result):
    kept = result.positions
    true_m = data.xy_m
    for user in ("u0", "u1"):
        assert {tuple(each) for each in kept.truth[user].xy_m} <= set(map(tuple, true_m))
        assert len(kept.chosen[user].rounds) <= 5 * len(set(kept.truth[user].rounds.tolist()))
        for attack in ON_NETWORKS:
            assert len(kept.locations[attack, user].rounds) <= len(result.history)
            sums = np.bincount(kept.clouds[attack, user].rounds, kept.clouds[attack, user].weights)
            np.testing.assert_allclose(sums[sums > 0], 1)
    west, south, east, north = kept.box_deg
    assert -0.2 < west < east < 0.0
    assert 51.4 < south < north < 51.6
    assert kept.signal_dbm.shape[0] > 10


def test_homes_are_those_that_the_figures_speak_of(result):
    homes, named = result.positions.homes, result.positions.named_homes
    errors_m = {(row.attack, row.target): row.scores.home_error_m for row in result.rows}
    known = {key: error_m for key, error_m in errors_m.items() if error_m is not None}
    assert {key: dist(homes[key[1]], xy_m) for key, xy_m in named.items()} == pytest.approx(known)
    assert known


def test_the_true_home_is_where_the_nights_are_spent(data):
    """Nine hours of a day at home, from 22:00; the other fifteen at one place 400 m east of it.

    The measurements of a day and a half are spread over three, which have two nights.
    """
    time = pl.col("time")
    data = replace(data, table=data.table.with_columns(time + (time - time.min())))
    hour = time.dt.hour()
    asleep = (hour >= 22) | (hour < 7)
    home_m = data.xy_m.mean(axis=0)
    table = data.table.with_columns(
        x_m=pl.when(asleep).then(home_m[0]).otherwise(home_m[0] + 400.0),
        y_m=pl.lit(home_m[1]) + (pl.col("y_m") - home_m[1]) / 1000,
    )
    kept = run(make_trial("fedavg"), replace(data, table=table)).positions
    for user in ("u0", "u1"):
        assert kept.homes[user] == pytest.approx(home_m, abs=1.0)


def test_points_that_no_defence_chose_are_not_kept_twice(data):
    assert run(make_trial("fedavg"), data).positions.chosen == {}
    assert run(make_trial("fedavg + dp:epsilon=100"), data).positions.chosen == {}


def test_a_run_without_anything_to_attack_is_a_result(data):
    nothing = "fedavg + diverse:eps_m=0.01,min_points=5000,noise=drop"
    found = run(make_trial(nothing), data)
    assert found.rows == ()
    assert "the defence left no phone a point" in found.failed
    diverged = run(make_trial("fedavg:learning_rate=1e6"), data)
    assert "training diverged" in diverged.failed
