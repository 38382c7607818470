import numpy as np
import pytest

from veilmap.shadows.bayes_risk import limits
from veilmap.shadows.calibration import calibration, cross_sharpened, sharpest
from veilmap.shadows.home_map import HomeMap

GRID_M = np.stack(np.meshgrid(np.arange(12.5, 1000, 25), np.arange(12.5, 1000, 25)), -1)
GRID_M = GRID_M.reshape(-1, 2)


def drawn(people, spread_m=120.0, seed=0):
    """Of each person a bump around a place, and a home drawn from the bump itself."""
    draw = np.random.default_rng(seed)
    chances, homes_m = [], []
    for _ in range(people):
        place_m = draw.uniform(300, 700, 2)
        width_m = draw.uniform(0.5, 1.5) * spread_m
        bump = np.exp(-((GRID_M - place_m) ** 2).sum(axis=1) / (2 * width_m**2))
        chances.append(bump)
        homes_m.append(GRID_M[draw.choice(len(bump), p=bump / bump.sum())])
    return chances, np.array(homes_m)


def test_maps_that_homes_are_drawn_from_are_calibrated():
    chances, homes_m = drawn(400)
    checked = calibration([HomeMap.of(GRID_M, each, 1.0) for each in chances], homes_m)
    assert checked.rank_p > 0.05
    assert checked.hit == pytest.approx(checked.said, abs=0.06)
    assert [each.within_m for each in checked.curve] == [50.0] * 5 + [100.0] * 5 + [200.0] * 5
    assert sum(each.people for each in checked.curve) == 3 * 400


@pytest.mark.parametrize(("sharpness", "promises"), [(3.0, "too much"), (0.3, "too little")])
def test_maps_that_are_too_sure_or_not_sure_enough_are_seen(sharpness, promises):
    chances, homes_m = drawn(200)
    checked = calibration([HomeMap.of(GRID_M, each, sharpness) for each in chances], homes_m)
    assert checked.rank_p < 1e-3
    assert (checked.said[1] > checked.hit[1] + 0.1) == (promises == "too much")


def test_the_sharpness_is_the_one_under_which_homes_are_likeliest():
    chances, homes_m = drawn(200)
    assert sharpest(GRID_M, chances, homes_m) == 1.0
    assert sharpest(GRID_M, [each**2 for each in chances], homes_m) == 0.5


def test_the_sharpness_of_a_map_is_chosen_on_other_people():
    """The maps of even people are squared, the others not: each gets the others' sharpness."""
    chances, homes_m = drawn(200)
    mixed = [each**2 if i % 2 == 0 else each for i, each in enumerate(chances)]
    maps = cross_sharpened(GRID_M, mixed, homes_m)
    assert maps[0].shares == pytest.approx(HomeMap.of(GRID_M, mixed[0], 1.0).shares)
    assert maps[1].shares == pytest.approx(HomeMap.of(GRID_M, mixed[1], 0.5).shares)


def test_of_calibrated_maps_neighbours_find_no_more_and_the_limit_is_above():
    chances, homes_m = drawn(300)
    for each in limits([HomeMap.of(GRID_M, c, 1.0) for c in chances], homes_m):
        assert each.neighbours <= each.learned + 0.08
        assert each.learned <= each.at_most <= 1


def test_maps_that_are_all_off_by_the_same_way_are_far_from_the_limit():
    chances, homes_m = drawn(300, spread_m=40.0)
    within_50, *_ = limits(
        [HomeMap.of(GRID_M, c, 1.0) for c in chances], np.add(homes_m, (150.0, 0.0))
    )
    assert within_50.learned < 0.05
    assert within_50.neighbours > 0.3


def test_of_fewer_than_three_people_no_limit_is_estimated():
    chances, homes_m = drawn(2)
    assert limits([HomeMap.of(GRID_M, c, 1.0) for c in chances], homes_m) == ()
