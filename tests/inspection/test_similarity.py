import numpy as np
import pytest

from tests.inspection.tables import measured, steps
from veilmap.inspection.similarity import similarity
from veilmap.metrics.transport import pairwise_emd_m


def test_two_users_at_two_places_are_as_far_apart_as_a_shift_costs():
    """A hundredth of a degree of latitude is 1,112.6 m; a shift costs 2/π of its length."""
    found = similarity(
        measured(
            *steps("a", "big", range(5)),
            *steps("b", "big", range(4), north=0.01),
            *steps("c", "big", range(3)),
            *steps("far", "other", range(11), north=1.0),
            *steps("a", "other", [50], north=0.5),
        )
    )
    assert (found.cell, found.users, found.users_in_all) == ("big", ("a", "b", "c"), 3)
    apart_m = 1112.6 * 2 / np.pi
    expected = [[0, apart_m, 0], [apart_m, 0, apart_m], [0, apart_m, 0]]
    np.testing.assert_allclose(found.emd_m, expected, rtol=1e-3)


def test_only_the_densest_users_are_compared():
    rows = [row for k in range(15) for row in steps(f"u{k:02}", "c", range(20 - k), north=k / 1000)]
    found = similarity(measured(*rows))
    assert found.users == tuple(f"u{k:02}" for k in range(12))
    assert found.users_in_all == 15
    assert found.emd_m.shape == (12, 12)


def test_one_user_is_at_distance_zero_from_itself():
    found = similarity(measured(*steps("a", "c", [0])))
    assert found.emd_m.tolist() == [[0.0]]


def test_the_picture_agrees_with_the_score_to_a_thousandth(small_campus):
    found, cell = similarity(small_campus), small_campus.of_cell(None).table
    sets = [cell.filter(user=user).select("x_m", "y_m").to_numpy() for user in found.users]
    assert found.emd_m == pytest.approx(pairwise_emd_m(sets), rel=1e-3)
