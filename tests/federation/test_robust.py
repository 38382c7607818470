import numpy as np
import pytest
from scipy.stats import trim_mean

from tests.federation.test_federation import USERS, make_plan, make_rounds
from tests.maps.making import Bumps, Mean
from veilmap.errors import UserError
from veilmap.federation import robust
from veilmap.federation.observation import Recorder
from veilmap.federation.plan import Plan, Training
from veilmap.federation.robust import Gathered, median, trimmed, trimmed_mean
from veilmap.federation.server import federate
from veilmap.study.settings import RunSettings

BEFORE = np.zeros(101, np.float32)


def gathered(updates, rule):
    into = Gathered(BEFORE, rule, len(updates))
    for k, update in enumerate(updates):
        into.add(str(k), update, k + 1)
    return into


def some(users, seed=0):
    return np.random.default_rng(seed).normal(size=(users, len(BEFORE))).astype(np.float32)


@pytest.mark.parametrize("users", [1, 2, 3, 4, 11])
@pytest.mark.parametrize("at_once", [7, 2**22])
def test_the_median_is_numpys_whatever_is_sorted_at_once(users, at_once, monkeypatch):
    monkeypatch.setattr(robust, "AT_ONCE", at_once)
    updates = some(users)
    expected = np.median(updates.astype(np.float64), axis=0).astype(np.float32)
    np.testing.assert_array_equal(gathered(updates, median).weights(), expected)


@pytest.mark.parametrize("users", [1, 4, 5, 10, 13])
@pytest.mark.parametrize("share", [0.1, 0.2, 0.49])
def test_the_trimmed_mean_is_scipys(users, share):
    updates = some(users, 1)
    expected = trim_mean(updates.astype(np.float64), share, axis=0)
    found = gathered(updates, trimmed_mean(share)).weights()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_a_share_that_is_whole_in_decimals_is_whole():
    assert trimmed(0.29, 100) == 29
    assert trimmed(0.2, 4) == 0


@pytest.mark.parametrize("rule", [median, trimmed_mean(0.2)])
def test_the_laws_of_a_robust_rule(rule):
    """Equal users give any of them; order does not matter; one of five cannot leave the others."""
    updates = some(5, 2)
    np.testing.assert_allclose(gathered(updates[[0] * 5], rule).weights(), updates[0], rtol=1e-6)
    weights = gathered(updates, rule).weights()
    np.testing.assert_allclose(gathered(updates[::-1], rule).weights(), weights, rtol=1e-6)
    updates[2] = 1e30
    poisoned = gathered(updates, rule).weights()
    honest = np.delete(updates, 2, axis=0)
    assert (poisoned >= honest.min(axis=0)).all()
    assert (poisoned <= honest.max(axis=0)).all()


def test_without_an_update_the_weights_stay():
    assert Gathered(BEFORE, median, 3).weights() is BEFORE


def test_more_updates_than_memory_are_refused_before_any_training():
    """10^4 users of the paper's network are 5.4 GiB."""
    weights = np.zeros(145_313, np.float32)
    Gathered(weights, median, 7_000)
    with pytest.raises(UserError, match=r"at most 4 GB, got 5.4 GB of 10,000 users; lower --frac"):
        Training(aggregation="median").aggregate(weights, 10_000)
    Training().aggregate(weights, 10**6)


@pytest.mark.parametrize("name", ["median", "trimmed"])
def test_the_engine_takes_what_the_training_says_and_every_user_counts_the_same(name):
    seen = Recorder()
    plan = make_plan(learning_rate=0.01, aggregation=name, trimmed_share=0.34)
    (result,) = federate(plan, make_rounds(1), USERS, seen)
    sent = np.array([each.weights_after for each in seen.observations], np.float64)
    # Of three users one is trimmed at each end, and the median is left.
    np.testing.assert_allclose(result.weights, np.median(sent, axis=0), rtol=1e-6)
    assert result.n == (53, 31, 1)


def test_one_huge_update_of_three_carries_off_the_mean_and_not_the_median():
    def moved(name):
        plan = make_plan(learning_rate=0.01, aggregation=name)
        honest, poisoned = (
            next(federate(Plan(**{**vars(plan), "broken": broken}), make_rounds(1), USERS))
            for broken in ({}, {"a": "huge"})
        )
        return np.linalg.norm(poisoned.weights - honest.weights)

    assert moved("mean") > 1e4
    assert moved("median") < 10


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"aggregation": "krum"}, "unknown aggregation 'krum'; choose one of: mean, median, trim"),
        ({"trimmed_share": 0.5}, "trimmed_share must be above 0 and below 0.5, got 0.5"),
    ],
)
def test_wrong_knobs_are_refused(knobs, message):
    with pytest.raises(UserError, match=message):
        Training(**knobs)


def test_the_name_of_a_scheme_says_how_updates_are_aggregated():
    text = Training(aggregation="trimmed", trimmed_share=0.3).as_text()
    assert text == "fedavg:aggregation=trimmed,trimmed_share=0.3"
    assert Training().as_text() == "fedavg"


def test_only_a_map_that_says_so_follows_a_robust_rule():
    """Sums add up whatever the rule: a hostile phone would spoil the map all the same."""
    message = "the map mean does not follow aggregation median; take mean, or declare robust = True"
    with pytest.raises(UserError, match=message):
        Plan(**{**vars(make_plan(aggregation="median")), "map": Mean()})
    with pytest.raises(UserError, match=message):
        RunSettings.of(map=Mean(), aggregation="median")
    assert RunSettings.of(map=Bumps(), aggregation="median").map == Bumps()
