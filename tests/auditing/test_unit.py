import json
from dataclasses import replace

import numpy as np
import pytest

from tests.auditing.making import ALL_ATTACKS, make_data
from veilmap.attacks.methods import METHODS
from veilmap.auditing.panel import panel
from veilmap.auditing.settings import AuditSettings
from veilmap.auditing.unit import Unit, run_unit
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
