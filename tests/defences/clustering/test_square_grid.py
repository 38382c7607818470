import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.defences.making import UTM_M
from veilmap.defences.clustering.square_grid import OFFSETS, OFFSETS_ONE_WAY, SquareGrid

POINTS = arrays(
    np.float64,
    st.tuples(st.integers(2, 25), st.just(2)),
    elements=st.one_of(st.floats(-30, 30, width=32), st.sampled_from([-1e6, 1e6])),
)


@given(POINTS, st.floats(0.01, 30))
def test_points_of_a_square_are_neighbours_and_neighbours_are_in_squares_beside(xy_m, eps_m):
    xy_m = xy_m + UTM_M
    grid = SquareGrid.of(xy_m, eps_m)
    distance_m = np.hypot(*(xy_m[:, None] - xy_m[None]).T)
    together = grid.square[:, None] == grid.square[None]
    assert (distance_m[together] <= eps_m).all()
    beside = np.zeros_like(together)
    for offset in OFFSETS:
        there, square = grid.beside(grid.key[grid.square], offset)
        beside[there] |= square[:, None] == grid.square[None]
    assert beside[distance_m <= eps_m].all()


def test_the_nearest_squares_are_asked_first():
    away = [x**2 + y**2 for x, y in OFFSETS]
    assert OFFSETS[0] == (0, 0)
    assert away == sorted(away)


def test_one_way_every_pair_of_squares_is_met_once():
    both = {way for x, y in OFFSETS_ONE_WAY for way in ((x, y), (-x, -y))}
    assert both == set(OFFSETS) - {(0, 0)}
    assert 2 * len(OFFSETS_ONE_WAY) == len(both) == 24


def test_an_offset_counts_columns_to_the_east_and_rows_to_the_north():
    """Squares of 0.7 m: the second point lies in the row above the first, the third east of it."""
    grid = SquareGrid.of(np.array([[0.0, 0.0], [0.0, 0.8], [0.8, 0.0]]), 1.0)
    ways = {(0, 1): (0, 1), (1, 0): (0, 2), (1, -1): (1, 2), (0, -1): (1, 0)}
    for offset, (start, end) in ways.items():
        there, square = grid.beside(grid.key, offset)
        assert (there.tolist(), square.tolist()) == ([start], [end])


def test_no_row_wraps_into_the_next_column():
    """A column of ten squares, and beside it one that holds only the lowest."""
    xy_m = np.array([(0.0, 0.7 * row + 0.3 * (row > 0)) for row in range(10)] + [(1.0, 0.0)])
    grid = SquareGrid.of(xy_m, 1.0)
    assert grid.square.tolist() == list(range(11))
    for offset in OFFSETS:
        there, square = grid.beside(grid.key, offset)
        assert (np.abs(xy_m[there] - xy_m[square]) < 3 * 0.7).all()
