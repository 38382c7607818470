"""What is known of people in general, and what of it a server has."""

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import make_measurements
from tests.maps.making import Mean
from tests.sweeping.making import LAYERS, make_places
from veilmap.errors import UserError
from veilmap.experiments.run_trial import run_trial
from veilmap.experiments.trial import Trial
from veilmap.federation.observation import Recorder
from veilmap.maps.kriging_map import K
from veilmap.study.attack import attack
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.evidence.evidence import evidence_of
from veilmap.study.guesses import IN_SUMS, guesses_about
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train_prepared

SETTINGS = {"interval": "1d", "seed": 1}


def trained(data=None, users=3, **settings):
    """What the server saw of a run on three days of three users, and the run."""
    data = data or make_measurements(rows=300, users=users)
    prepared = prepare(data, RunSettings.of(**SETTINGS, **settings))
    seen = Recorder()
    return prepared, seen, train_prepared(prepared, seen)


def density(evidence, target="u0"):
    return guesses_about(evidence, target).attacks["prior"].density


def test_the_sums_less_the_targets_messages_are_those_of_everybody_else():
    """From the messages of all, or from the last state and the target's messages alone."""
    prepared, seen, run = trained()
    every = density(evidence_of(prepared, seen.observations))
    own = [each for each in seen.observations if each.user == "u0"]
    rest = density(evidence_of(prepared, own, state=run.signal_map.state))
    assert np.array_equal(every.xy_m, rest.xy_m)
    assert np.array_equal(every.weights, rest.weights)
    assert not every.oracle
    assert every.source == IN_SUMS
    grid = prepared.plan.map.grid(prepared.plan.area)
    mine = sum(len(prepared.plan.map.visits(prepared.plan.area, each.message)) for each in own)
    assert every.weights.sum() == run.signal_map.state[K].sum() - mine
    assert len(every.weights) <= len(grid)


def test_measurements_count_every_square_once_for_each_user_and_are_an_oracle():
    """Two rest at one place and one at another, each for 20 rows: 2 and 1, and not 40 and 20."""
    data = make_places({"u0": -0.11, "b": -0.10, "c": -0.10, "d": -0.09})
    prepared, seen, _ = trained(data, map="network", **LAYERS)
    known = evidence_of(prepared, seen.observations)
    found = density(known)
    assert found.oracle
    heaviest = found.weights == 2
    assert set(found.weights) == {1.0, 2.0}
    apart_m = np.ptp(found.xy_m[heaviest][:, 0]), np.ptp(found.xy_m[:, 0])
    assert apart_m[0] < 50 < 600 < apart_m[1] < 800
    assert (
        found.source
        == "the squares where 3 other users measured, once for each, which no real server knows"
    )
    run = attack(known, method="first_layer", target="u0")
    assert "where the other users measured, for the guess prior" in run.oracle
    assert set(run.guesses) == {"blind", "prior"}
    assert list(run.scores) == ["first_layer"]


def test_the_targets_own_measurements_are_in_no_prior():
    prepared, seen, _ = trained(users=1)
    guesses = guesses_about(evidence_of(prepared, seen.observations), "u0")
    assert list(guesses.attacks) == ["blind"]
    assert guesses.prior == "no other user measured in the area"


def test_without_data_and_without_sums_there_is_no_prior():
    prepared, seen, _ = trained(map=Mean())
    known = evidence_of(prepared, seen.observations)
    without = replace(known, truth=None, why_no_truth="the transcript has no positions")
    guesses = guesses_about(without, "u0")
    assert list(guesses.attacks) == ["blind"]
    assert guesses.prior.endswith("known of other users; the transcript has no positions")


def test_of_a_sum_of_all_users_there_is_nobody_else():
    prepared, seen, _ = trained()
    run = attack(evidence_of(prepared, seen.observations), secure_aggregation=True)
    assert list(run.guesses) == ["blind"]
    assert "the sum is of all users" in run.prior


def test_a_trial_has_the_guesses_apart_from_the_attacks():
    data = make_measurements(rows=300, users=3)
    attacks = AttackSettings.of(method="squares")
    result = run_trial(
        Trial("kriging", RunSettings.of(**SETTINGS), ("u0", "u1"), attacks), {"": data}
    )
    assert {row.attack for row in result.rows} == {"squares"}
    assert [(row.attack, row.target) for row in result.guesses] == [
        (guess, target) for target in ("u0", "u1") for guess in ("blind", "prior")
    ]
    assert result.priors == (IN_SUMS,)
    assert all(line.attacked.attack == "squares" for line in result.history)
    blind = result.guesses[0]
    assert blind.figure("home_error_m") > 0
    assert blind.figure("diverged_share") == 0


@pytest.mark.parametrize("name", ["blind", "prior"])
def test_a_guess_cannot_be_asked_for_nor_left_out(name):
    with pytest.raises(UserError, match=f"the guess {name} is made beside every attack"):
        AttackSettings.of(method=f"search,{name}")
