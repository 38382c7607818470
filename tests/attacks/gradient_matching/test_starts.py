import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.attacks.worlds import AREA
from veilmap.area import Area
from veilmap.attacks.gradient_matching.starts import (
    GridStarts,
    NearCentroid,
    PreviousResult,
    RandomStarts,
)
from veilmap.errors import UserError


@given(seed=st.integers(0, 99), count=st.integers(1, 30), width=st.sampled_from([0, 1.5, 3000]))
def test_random_starts_lie_inside(seed, count, width):
    area = Area(500_000, 4_000_000, 500_000 + width, 4_000_900)
    points = RandomStarts(count, seed).points(area, 1, None)
    assert points.shape == (count, 2)
    assert area.contains(points).all()


def test_random_starts_fill_the_area():
    """The mean of 5000 is within 5 standard errors (1/sqrt(12 * 5000) of a side) of the middle."""
    points = RandomStarts(5000).points(AREA, 1, None)
    share = (points - [AREA.x_min_m, AREA.y_min_m]) / [AREA.width_m, AREA.height_m]
    np.testing.assert_allclose(share.mean(axis=0), 0.5, atol=5 / np.sqrt(12 * 5000))
    assert (share.min(axis=0) < 0.01).all()
    assert (share.max(axis=0) > 0.99).all()


@pytest.mark.parametrize(
    "make",
    [RandomStarts, lambda count, seed: NearCentroid({1: [0, 0], 2: [0, 0]}, 100.0, count, seed)],
)
def test_the_same_seed_and_round_start_at_the_same_places(make):
    first = make(4, 7).points(AREA, 1, None)
    np.testing.assert_array_equal(first, make(4, 7).points(AREA, 1, None))
    assert not np.isin(first, make(4, 8).points(AREA, 1, None)).any()
    assert not np.isin(first, make(4, 7).points(AREA, 2, None)).any()


def test_the_grid_has_squares_of_350_m():
    """1400 x 700 m is 4 x 2 squares, the first centre at (175, 175)."""
    area = Area(0, 0, 1400, 700)
    centres = GridStarts().points(area, 1, None)
    assert centres.tolist() == [[175.0 + 350 * i, y] for y in (175.0, 525.0) for i in range(4)]


def test_some_squares_of_the_grid_are_the_same_in_every_round():
    every = GridStarts().points(AREA, 1, None).tolist()
    some = GridStarts(count=5, seed=3).points(AREA, 1, None).tolist()
    assert len(some) == 5
    assert [each for each in every if each in some] == some
    assert some == GridStarts(count=5, seed=3).points(AREA, 9, None).tolist()
    assert some != GridStarts(count=5, seed=4).points(AREA, 1, None).tolist()
    assert GridStarts(count=10_000).points(AREA, 1, None).tolist() == every


def test_starts_near_the_centroid_have_the_stated_spread_by_axis():
    """Of 20,000: the mean within 5 std/sqrt(n), the std within 5 std/sqrt(2n)."""
    n, std_m = 20_000, 100.0
    centroids_m = {1: np.array([7.0, 9.0]), 2: np.array([70.0, 90.0])}
    points = NearCentroid(centroids_m, std_m, n).points(AREA, 2, None)
    np.testing.assert_allclose(points.mean(axis=0), [70, 90], atol=5 * std_m / np.sqrt(n))
    np.testing.assert_allclose(points.std(axis=0), std_m, atol=5 * std_m / np.sqrt(2 * n))
    assert abs(np.corrcoef(points.T)[0, 1]) < 5 / np.sqrt(n)


def test_only_the_centroid_is_the_truth():
    assert NearCentroid({}).oracle
    assert not any(start.oracle for start in (RandomStarts(), GridStarts(), PreviousResult()))


# A hundredth of the area's sides off the very middle.
MIDDLE_M = AREA.centre_m + 0.01 * np.array([AREA.width_m, AREA.height_m])


@pytest.mark.parametrize(
    ("previous_m", "expected_m"),
    [
        (None, MIDDLE_M),
        (AREA.centre_m + 50.0, AREA.centre_m + 50.0),
        (AREA.centre_m + 5000.0, MIDDLE_M),
        (np.full(2, np.nan), MIDDLE_M),
    ],
    ids=["first round", "inside", "left the area", "no result"],
)
def test_the_previous_result_is_taken_unless_it_left_the_area(previous_m, expected_m):
    assert PreviousResult().points(AREA, 1, previous_m).tolist() == [expected_m.tolist()]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RandomStarts(count=0), r"count must be above 0, got 0"),
        (lambda: GridStarts(side_m=-350.0), r"side_m must be above 0, got -350\.0"),
        (lambda: GridStarts(count=0), r"count must be above 0, got 0"),
        (lambda: NearCentroid({}, std_m=np.nan), r"std_m must be above 0, got nan"),
    ],
)
def test_a_bad_setting_is_named(make, message):
    with pytest.raises(UserError, match=message):
        make()
