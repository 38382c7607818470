import numpy as np
import pytest

from veilmap.area import Area
from veilmap.errors import UserError, refuse
from veilmap.metrics.clouds import cloud_faults, in_area, pool

AREA = Area(0, 0, 100, 100)


def test_what_lies_outside_is_left_out_and_the_rest_sums_to_1():
    """Of the weights 1, 3, 6 the last lies outside; 1/4 and 3/4 remain."""
    xy_m, weights = in_area(([[0, 0], [50, 50], [50, 101]], [1, 3, 6]), AREA)
    assert xy_m.tolist() == [[0, 0], [50, 50]]
    assert weights.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    "cloud",
    [([[np.nan, np.nan]], [1.0]), ([[500, 0]], [1.0]), ([[1, 1]], [0.0]), (np.zeros((0, 2)), [])],
    ids=["NaN", "outside", "weightless", "empty"],
)
def test_a_cloud_may_have_nothing_usable(cloud):
    xy_m, weights = in_area(cloud, AREA)
    assert (xy_m.shape, weights.shape) == ((0, 2), (0,))


def test_a_pool_weighs_rounds_by_their_points_and_knows_them():
    halves = (np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([0.5, 0.5]))
    nothing = (np.zeros((0, 2)), np.zeros(0))
    pooled = pool([halves, nothing, (halves[0][:1], np.ones(1))], [8, 100, 3])
    assert pooled.xy_m.tolist() == [[1, 1], [2, 2], [1, 1]]
    assert pooled.weights.tolist() == [4, 4, 3]
    assert pooled.of_round.tolist() == [0, 0, 2]
    assert len(pooled) == 3


def test_a_pool_needs_a_count_for_every_cloud():
    with pytest.raises(ValueError, match="longer"):
        pool([(np.zeros((1, 2)), np.ones(1))], [8, 3])


def test_weights_of_0_and_below_1_are_no_fault():
    assert list(cloud_faults([([[0, 0], [1, 1]], [0, 0.5])])) == []


MISUSES = {
    "flat": (([0, 0], [1]), r"cloud 1 of 1 must have .* got shapes \(2,\) and \(1,\)"),
    "weights of others": (([[0, 0]], [1, 1]), r"got shapes \(1, 2\) and \(2,\)"),
    "negative": (([[0, 0], [1, 1]], [1, -1]), "weights of cloud 1 of 1 .* got -1 to 1"),
    "not finite": (([[0, 0]], [np.nan]), "weights of cloud 1 of 1 must be finite"),
    "infinite": (([[0, 0], [1, 1]], [1, np.inf]), "cloud 1 of 1 must be finite .* got 1 to inf"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_is_one_line(misuse):
    cloud, message = MISUSES[misuse]
    with pytest.raises(UserError, match=message):
        refuse(cloud_faults([cloud]))
