"""The mixture over the places that rounds share."""

import numpy as np
import pytest

from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.joint.readings import Reading
from veilmap.attacks.joint.shared_places import places_of, shared_places
from veilmap.attacks.reconstruction import Cloud

HOME, WORK, NOWHERE = (100.0, 100.0), (400.0, 100.0), (2000.0, 100.0)


def reading(*places, error_m=20.0, weights=None) -> Reading:
    xy_m = np.array(places, float)
    shares = np.full(len(xy_m), 1 / len(xy_m)) if weights is None else np.array(weights)
    return Reading(FirstLayer, Cloud(xy_m, shares), 0.99, error_m)


def fitted(rounds, n=None, possible=None, xy_m=(HOME, WORK, NOWHERE)):
    n = [100] * len(rounds) if n is None else n
    if possible is None:
        possible = np.ones((len(rounds), len(xy_m)), bool)
    return shared_places(np.array(xy_m, float), rounds, n, possible)


def test_it_is_the_mixture_as_it_is_written():
    """Six passes of π and G over all points and places, by loops."""
    places = np.array([HOME, WORK, (140.0, 130.0)])
    clouds = [reading(HOME, (130.0, 90.0), error_m=40.0), reading(WORK, HOME, error_m=25.0)]
    n, T = [50, 400], 2
    worth = np.array([(30 / each.error_m) ** 2 for each in clouds])
    pi, overall = np.full((T, 3), 1 / 3), np.full(3, 1 / 3)
    for _ in range(6):
        following = np.zeros((T, 3))
        for t, each in enumerate(clouds):
            s, m = 1.5 * each.error_m, worth[t] * pi[t] + overall
            for x, w in zip(each.cloud.xy_m, each.cloud.weights, strict=True):
                away = np.hypot(*(places - x).T)
                chance = m * np.exp(-((away / s) ** 2) / 2) * (away <= 3 * s)
                following[t] += w * chance / chance.sum()
        pi = following / following.sum(axis=1, keepdims=True)
        overall = (worth * np.sqrt(n)) @ pi
        overall /= overall.sum()
    found = fitted([[each] for each in clouds], n, xy_m=places)
    assert found.of_round == pytest.approx(pi, abs=1e-12)
    assert found.overall == pytest.approx(overall, abs=1e-12)


def test_a_blurred_round_is_drawn_to_the_place_that_others_share():
    between = (230.0, 100.0)
    sharp = [[reading(HOME)] for _ in range(5)]
    alone = fitted([[reading(between, error_m=150.0)]]).of_round[0]
    among = fitted([*sharp, [reading(between, error_m=150.0)]]).of_round[-1]
    assert among[0] > 0.8 > alone[0]


def test_a_sharp_round_elsewhere_stays_there():
    rounds = [[reading(HOME)] for _ in range(9)] + [[reading(WORK)]]
    assert fitted(rounds).of_round[-1][1] > 0.95


def test_the_user_is_nowhere_that_is_impossible():
    possible = np.array([[True, False, True], [True, True, True]])
    found = fitted([[reading(HOME, WORK)], [reading(HOME, WORK)]], possible=possible)
    assert found.of_round[0][1] == 0
    assert found.of_round[1][1] > 0


def test_points_that_no_place_explains_leave_the_shares_of_all_rounds():
    rounds = [[reading(HOME)], [reading((9000.0, 9000.0))]]
    found = fitted(rounds)
    assert found.of_round[1][0] > 0.4
    assert found.of_round.sum(axis=1) == pytest.approx(1)


def test_the_order_of_rounds_does_not_matter():
    rounds = [[reading(HOME, WORK)], [reading(WORK, error_m=60.0)], [reading(HOME)]]
    one, other = fitted(rounds, [5, 9, 50]), fitted(rounds[::-1], [50, 9, 5])
    assert one.overall == pytest.approx(other.overall)
    assert one.of_round == pytest.approx(other.of_round[::-1])


def test_places_are_the_squares_with_points_and_the_heaviest_first():
    rounds = [[reading(HOME, (101.0, 101.0), WORK, weights=[0.4, 0.3, 0.3])], [reading(HOME)]]
    places = places_of(rounds, [100, 100])
    assert len(places) == 2
    assert np.hypot(*(places[0] - HOME)) < 1.5
    assert places[1] == pytest.approx(WORK)


def test_better_readings_of_a_round_count_more():
    found = fitted([[reading(HOME, error_m=20.0), reading(WORK, error_m=28.0)]])
    assert found.of_round[0][0] > found.of_round[0][1] > 0
