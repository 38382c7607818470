import math

import numpy as np
import pytest

from tests.federation.test_federation import SMALL, USERS, make_plan, make_rounds
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.errors import UserError
from veilmap.federation.byzantine import FLIPPED, KINDS, as_sent
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.observation import Recorder
from veilmap.federation.plan import Plan
from veilmap.federation.server import federate
from veilmap.federation.update_validation import ANY_FINITE, NOT_FINITE, UpdateLimits, usual_norm
from veilmap.local_data import Round

BEFORE = SMALL.initialise(0)


def with_one(value, size=SMALL.size):
    weights = np.zeros(size, np.float32)
    weights[-1] = value
    return weights


def refusal_of(weights, n, before, update_limits=UpdateLimits()):
    return update_limits.refusal({WEIGHTS: weights}, n, {WEIGHTS: before})


def run(broken, update_limits=ANY_FINITE, rounds=2):
    plan = make_plan(learning_rate=0.01)
    plan = Plan(**{**vars(plan), "broken": broken, "update_limits": update_limits})
    seen = Recorder()
    return list(federate(plan, make_rounds(rounds), USERS, seen)), seen.observations


def without(user, rounds=2):
    left = [
        Round(each.number, each.start_s, {u: d for u, d in each.data.items() if u != user})
        for each in make_rounds(rounds)
    ]
    return list(federate(make_plan(learning_rate=0.01), left, USERS))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_one_weight_that_is_not_finite_is_enough(value):
    refusal = refusal_of(with_one(value), 5, BEFORE)
    assert refusal.why == NOT_FINITE
    assert not refusal.is_seen


@pytest.mark.parametrize(
    ("weights", "n", "why", "is_seen"),
    [
        (with_one(0, SMALL.size - 1), 5, "weights of shape", False),
        (with_one(0)[:, None], 5, "weights of shape", False),
        (with_one(101), 5, "an update of length 101, above the 100 of --most-norm", True),
        (with_one(3e38), 5, r"an update of length 3e\+38", True),
        (with_one(0), 0, "0 points, and 1 to 100,000 are taken", False),
        (with_one(0), 100_001, "100,001 points", False),
    ],
)
def test_what_is_refused_says_why_and_whether_a_curious_server_can_read_it(
    weights, n, why, is_seen
):
    refusal = refusal_of(weights, n, np.zeros(SMALL.size, np.float32))
    assert refusal.why.startswith(why.replace("\\", ""))
    assert refusal.is_seen == is_seen


def test_what_is_just_within_the_limits_is_taken():
    zero = np.zeros(SMALL.size, np.float32)
    assert refusal_of(with_one(100), 100_000, zero) is None
    assert refusal_of(with_one(3e38), 10**12, zero, ANY_FINITE) is None


@pytest.mark.parametrize("limits", [{"most_norm": 0.0}, {"most_norm": math.nan}])
def test_wrong_limits_are_refused(limits):
    with pytest.raises(UserError, match="most_norm must be above 0"):
        UpdateLimits(**limits)
    with pytest.raises(UserError, match="most_points must be at least 1"):
        UpdateLimits(most_points=0)


def test_the_usual_limit_leaves_room_for_the_noise_of_dp():
    step = DifferentialPrivacy(epsilon=10.0)
    assert usual_norm(SMALL, ()) == 100
    noise = step.sigma * math.sqrt(SMALL.size)
    assert usual_norm(SMALL, (step,)) == pytest.approx(100 + 2 * noise)


@pytest.mark.parametrize("kind", ["nan", "inf", "shape"])
def test_garbage_is_refused_unseen_and_the_round_continues_with_the_others(kind):
    results, seen = run({"a": kind})
    for mine, reference in zip(results, without("a"), strict=True):
        np.testing.assert_array_equal(mine.weights, reference.weights)
        assert mine.users == reference.users
        assert list(mine.refused) == ["a"]
        assert "a" in mine.batches
    assert "a" not in {each.user for each in seen}


def test_an_update_that_is_too_long_is_refused_and_seen():
    results, seen = run({"a": "huge"}, UpdateLimits(100.0))
    np.testing.assert_array_equal(results[-1].weights, without("a")[-1].weights)
    assert "above the 100 of --most-norm" in results[0].refused["a"]
    assert [each.user for each in seen if each.round == 1] == ["a", "b", "c"]


def test_a_round_of_which_everything_is_refused_leaves_the_weights():
    results, seen = run(dict.fromkeys(USERS, "nan"))
    assert [result.users for result in results] == [(), ()]
    np.testing.assert_array_equal(results[-1].weights, SMALL.initialise(0))
    assert seen == []


def test_honest_phones_are_sent_as_they_are_and_a_flipped_one_goes_the_other_way():
    honest = BEFORE + np.float32(0.5)
    assert as_sent({"b": "nan"}, "a", BEFORE, honest) is honest
    flipped = KINDS["flipped"](BEFORE, honest)
    np.testing.assert_allclose(flipped - BEFORE, -FLIPPED * (honest - BEFORE), rtol=1e-5)
