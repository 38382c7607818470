import numpy as np
import pytest

from tests.report.fakes import AREA, CORNER_M, grid_cloud
from veilmap.attacks.reconstruction import Cloud
from veilmap.report.tiles import Tiles, pooled

NOTHING = Cloud(np.empty((0, 2)), np.empty(0))


def test_a_grid_gets_one_tile_per_place():
    """Places 40 m apart in a view of 2 km: 25 tiles with a 25th each, 40 m wide."""
    tiles = Tiles.fitting(grid_cloud(40.0), AREA)
    assert tiles.sides_m == pytest.approx((40, 40))
    gathered = tiles.gathered(grid_cloud(40.0))
    places_m = gathered.xy_m.tolist()
    np.testing.assert_allclose(sorted(places_m), sorted(grid_cloud(40.0).xy_m.tolist()))
    np.testing.assert_allclose(gathered.weights, 1 / 25)


def test_centimetres_of_rounding_do_not_move_a_place_into_another_tile():
    cloud = grid_cloud(40.0, count=15)
    shaken_m = cloud.xy_m + np.random.default_rng(0).uniform(-0.05, 0.05, cloud.xy_m.shape)
    shaken = Cloud(shaken_m, cloud.weights)
    assert Tiles.fitting(shaken, AREA).gathered(shaken).weights == pytest.approx([1 / 225] * 225)


def test_a_grid_too_fine_to_see_is_gathered_in_whole_multiples():
    """A 60th of 2 km is 33.3 m: 4 places of 10 m to a side, so 16 to a tile."""
    cloud = grid_cloud(10.0, count=8)
    tiles = Tiles.fitting(cloud, AREA)
    assert tiles.sides_m == pytest.approx((40, 40))
    assert tiles.gathered(cloud).weights == pytest.approx([16 / 64] * 4)


def test_few_far_places_do_not_make_huge_tiles():
    cloud = Cloud(CORNER_M + np.array([[100.0, 100.0], [1900.0, 900.0]]), np.array([0.3, 0.7]))
    tiles = Tiles.fitting(cloud, AREA)
    assert tiles.sides_m == pytest.approx((2000 / 60, 2000 / 60), rel=0.1)
    assert tiles.gathered(cloud).weights == pytest.approx([0.3, 0.7])


@pytest.mark.parametrize("cloud", [NOTHING, Cloud.at(CORNER_M + 500.0), grid_cloud()])
def test_tiles_cover_the_view(cloud):
    tiles = Tiles.fitting(cloud, AREA)
    assert tiles.x_edges_m[0] <= AREA.x_min_m < AREA.x_max_m <= tiles.x_edges_m[-1]
    assert tiles.y_edges_m[0] <= AREA.y_min_m < AREA.y_max_m <= tiles.y_edges_m[-1]
    assert tiles.shares(cloud).sum() == pytest.approx(cloud.weights.sum())


def test_what_lies_outside_counts_for_nothing_inside():
    cloud = Cloud(CORNER_M + np.array([[1000.0, 500.0], [9000.0, 500.0]]), np.array([0.25, 0.75]))
    assert Tiles.fitting(cloud, AREA).shares(cloud).sum() == pytest.approx(0.25)


def test_pooled_clouds_weigh_alike_and_lose_what_is_nowhere():
    one = Cloud(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([1.0, 0.0]))
    nowhere = Cloud.at(np.array([np.nan, np.nan]))
    both = pooled([one, Cloud.at(np.array([5.0, 5.0])), nowhere])
    assert both.xy_m.tolist() == [[0, 0], [5, 5]]
    assert both.weights.tolist() == [0.5, 0.5]
    assert len(pooled([nowhere]).weights) == len(pooled([]).weights) == 0
