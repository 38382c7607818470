import numpy as np
import pytest

from veilmap.errors import UserError, refuse
from veilmap.metrics.weighted_points import as_arrays, on_shared_positions, point_set_faults


def test_weights_meet_at_distinct_positions():
    """Set 1 has weight 1 + 2 at (0, 0); set 2 has 4 there and 5 at (0, 7)."""
    sets, weights = as_arrays([[[0, 0], [0, 0]], [[0, 7], [0, 0]]], [[1, 2], [5, 4]])
    xy_m, heaps = on_shared_positions(sets, weights)
    assert xy_m.tolist() == [[0, 0], [0, 7]]
    assert heaps.tolist() == [[3, 0], [4, 5]]


def test_points_without_weights_count_equally():
    _, weights = as_arrays([np.zeros((3, 2))], [None])
    assert weights[0].tolist() == [1, 1, 1]


def test_every_set_has_its_own_weights_or_none():
    with pytest.raises(ValueError, match="longer"):
        as_arrays([np.zeros((3, 2))], [None, None])


def test_a_position_is_counted_once_however_much_of_it_is_not_finite():
    broken = np.array([[np.nan, 0], [np.inf, 0], [np.nan, np.nan], [0, 0], [0, 0]])
    with pytest.raises(UserError, match="the set has 3 non-finite positions"):
        refuse(point_set_faults([broken], [np.ones(5)]))


def test_a_single_set_is_not_numbered_in_a_message():
    with pytest.raises(UserError, match=r"^the set has no points; give at least one$"):
        refuse(point_set_faults([np.zeros((0, 2))], [np.zeros(0)]))
