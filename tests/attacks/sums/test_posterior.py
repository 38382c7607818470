from math import exp, log

import numpy as np
import pytest

from tests.attacks.sums.making import around, given_of, heaviest_m, history_of, plan_of
from veilmap.attacks.density import Density
from veilmap.attacks.sums.density import ANYWHERE, density_on
from veilmap.attacks.sums.posterior import LEAST_CHANCE, Posterior
from veilmap.errors import UserError


def uniform(history):
    return density_on(history.grid, None)


def test_where_nothing_was_visited_it_is_the_prior():
    history = history_of(plan_of(), [])
    prior = np.arange(1.0, len(history.grid) + 1)
    assert Posterior().of(history, prior / prior.sum()) == pytest.approx(prior / prior.sum())


def test_it_agrees_with_the_sum_over_squares_as_it_is_written():
    """Log L(h) = Σ_c v log(p/b) + (T − v) log((1 − p)/(1 − b)) within two spreads of h."""
    history = history_of(plan_of(), around((310, 270), rounds=3, trips=5))
    method, density = Posterior(home_temper=0.5), uniform(history)
    xy_m, T = history.grid.centres_m(np.arange(len(history.grid))), history.spoken
    chance = max(history.often.sum() / T * density[0], LEAST_CHANCE)
    logs = np.zeros(len(xy_m))
    for h, home_m in enumerate(xy_m):
        for c, square_m in enumerate(xy_m):
            d = np.hypot(*(home_m - square_m))
            if d <= 2 * 65.0:
                p = 1 - (1 - 0.5 * exp(-((d / 65.0) ** 2))) * (1 - chance)
                v = history.often[c]
                logs[h] += v * log(p / chance) + (T - v) * log((1 - p) / (1 - chance))
    wanted = np.exp(0.5 * (logs - logs.max()))
    assert method.of(history, density) == pytest.approx(wanted / wanted.sum())


@pytest.mark.parametrize("home_m", [(310, 270), (845, 120)])
def test_it_names_home_among_trips(home_m):
    found = Posterior().attack(given_of(plan_of(25.0), around(home_m)))
    assert np.hypot(*(heaviest_m(found) - home_m)) < 25
    assert found[0].cloud is found[-1].cloud


def test_visits_moved_by_whole_squares_move_it_by_as_many():
    rounds = [[(325, 225), (375, 225)], [(325, 225), (425, 375)]]
    plan, moved = plan_of(), [np.add(each, (100, 50)) for each in rounds]
    here, there = (history_of(plan, each) for each in (rounds, moved))
    one = Posterior().of(here, uniform(here)).reshape(here.grid.rows, -1)
    two = Posterior().of(there, uniform(there)).reshape(there.grid.rows, -1)
    assert np.log(two[4:8, 6:14] / one[3:7, 4:12]).std() == pytest.approx(0, abs=1e-9)


def test_of_two_places_visited_alike_the_density_decides():
    rounds, plan = [[(225, 225), (725, 225)]] * 4, plan_of()
    where = np.array([[225.0, 225.0], [725.0, 225.0]])
    for place, weights in ((0, [3.0, 1.0]), (1, [1.0, 3.0])):
        density = Density(where, np.array(weights), "a census", False)
        found = Posterior().attack(given_of(plan, rounds, density=density))
        assert heaviest_m(found) == pytest.approx(where[place], abs=1)


def test_a_density_has_its_shares_and_a_tenth_anywhere():
    grid = history_of(plan_of(), []).grid
    where = np.array([[25.0, 25.0], [-900.0, 0.0]])
    shares = density_on(grid, Density(where, np.array([2.0, 5.0]), "a census", False))
    assert shares[1] == pytest.approx(ANYWHERE / len(grid))
    assert shares[0] == pytest.approx(1 - ANYWHERE + ANYWHERE / len(grid))
    outside = Density(where[1:], np.ones(1), "a census", False)
    assert density_on(grid, outside) == pytest.approx(1 / len(grid))


@pytest.mark.parametrize(
    ("name", "value"), [("home_chance", 1.0), ("home_spread_m", 0.0), ("home_temper", 1.5)]
)
def test_settings_out_of_range_are_refused(name, value):
    with pytest.raises(UserError, match=f"{name} must be above 0.*got {value}"):
        Posterior(**{name: value})
