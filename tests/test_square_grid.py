import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.square_grid import MOST_SQUARES, OUTSIDE, SquareGrid, usual_side_m

SOUTH_WEST_M = np.array([-300.0, 700.0])
sides_m = st.floats(0.0, 1e5)


def area_of(width_m, height_m):
    return Area(-300.0, 700.0, -300.0 + width_m, 700.0 + height_m)


@pytest.mark.parametrize(
    ("width_m", "height_m", "side_m"),
    [
        (0, 0, 25),  # a single place
        (2000, 1000, 25),  # √200 = 14.1
        (2500, 2500, 25),  # √625 = 25
        (2501, 2500, 30),
        (10_000, 10_000, 100),
        (10_100, 10_000, 105),  # 100.5
        (1_000_000, 0, 25),  # a line
    ],
)
def test_the_usual_side_makes_about_ten_thousand_squares_of_25_m_at_least(
    width_m, height_m, side_m
):
    """max(25, √(w·h/10,000)), rounded up to 5 m."""
    assert usual_side_m(area_of(width_m, height_m)) == side_m


def test_squares_are_numbered_along_rows_from_the_south_west():
    """250 m x 120 m in squares of 100 m: three columns and two rows."""
    grid = SquareGrid.of(area_of(250, 120), 100.0)
    assert (grid.rows, grid.columns, len(grid)) == (2, 3, 6)
    places_m = np.array([[0, 0], [99.9, 99.9], [100, 0], [250, 0], [0, 100], [250, 120]])
    assert grid.squares(SOUTH_WEST_M + places_m).tolist() == [0, 0, 1, 2, 3, 5]
    assert grid.centres_m(np.array([0, 5])).tolist() == [[-250.0, 750.0], [-50.0, 850.0]]


@pytest.mark.parametrize(
    "xy_m", [(-300.1, 750), (-250, 699.9), (0.1, 750), (-250, 900.1), (np.nan, 750), (np.inf, 0)]
)
def test_a_place_outside_is_in_no_square(xy_m):
    grid = SquareGrid.of(area_of(250, 120), 100.0)
    assert grid.squares(np.array([xy_m], np.float64)).tolist() == [OUTSIDE]


@given(sides_m, sides_m, st.floats(0.1, 1e4), st.integers(0, 2**32))
def test_the_area_is_covered_and_a_centre_lies_in_its_square(width_m, height_m, side_m, seed):
    area = area_of(width_m, height_m)
    try:
        grid = SquareGrid.of(area, side_m)
    except UserError:
        return
    draw = np.random.default_rng(seed)
    inside_m = draw.uniform(*area.corners_m, (20, 2))
    squares = grid.squares(np.vstack([inside_m, area.corners_m]))
    assert (squares >= 0).all()
    assert (squares < len(grid)).all()
    chosen = draw.integers(0, len(grid), 20)
    assert (grid.squares(grid.centres_m(chosen)) == chosen).all()


def test_a_single_place_is_one_square():
    assert len(SquareGrid.of(area_of(0, 0))) == 1


@given(sides_m, sides_m)
def test_the_usual_grid_fits(width_m, height_m):
    assert len(SquareGrid.of(area_of(width_m, height_m))) <= MOST_SQUARES


@pytest.mark.parametrize(
    ("width_m", "height_m", "side_m"),
    [(40_000, 30_000, 1.0), (4e7, 1000.0, 25.0), (1.2e6, 0.0, 0.1), (1000.0, 1000.0, 1e-310)],
)
def test_the_error_of_a_grid_that_does_not_fit_names_the_shortest_side_that_does(
    width_m, height_m, side_m
):
    area = area_of(width_m, height_m)
    with pytest.raises(UserError, match="that fit into memory; take --square ") as caught:
        SquareGrid.of(area, side_m)
    named_m = float(re.search(r"--square (\d+)$", str(caught.value))[1])
    assert len(SquareGrid.of(area, named_m)) <= MOST_SQUARES
    if named_m > 5:
        with pytest.raises(UserError, match="take --square"):
            SquareGrid.of(area, named_m - 5)


def test_the_squares_that_do_not_fit_are_counted():
    """40 km x 30 km in squares of 1 m: 40,001 x 30,001."""
    with pytest.raises(
        UserError, match=r"squares of 1 m make a grid of 1,200,070,001 over .*40\.0 k"
    ):
        SquareGrid.of(area_of(40_000, 30_000), 1.0)


@pytest.mark.parametrize("side_m", [0.0, -1.0, np.nan])
def test_a_side_that_is_none_is_refused(side_m):
    with pytest.raises(UserError, match="square_m must be a number of metres above 0, got"):
        SquareGrid.of(area_of(10, 10), side_m)
