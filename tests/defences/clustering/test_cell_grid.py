import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.defences.making import UTM_M
from veilmap.defences.clustering.cell_grid import OFFSETS, OFFSETS_ONE_WAY, CellGrid

POINTS = arrays(
    np.float64,
    st.tuples(st.integers(2, 25), st.just(2)),
    elements=st.one_of(st.floats(-30, 30, width=32), st.sampled_from([-1e6, 1e6])),
)


@given(POINTS, st.floats(0.01, 30))
def test_points_of_a_cell_are_neighbours_and_neighbours_are_in_cells_beside(xy_m, eps_m):
    xy_m = xy_m + UTM_M
    grid = CellGrid.of(xy_m, eps_m)
    distance_m = np.hypot(*(xy_m[:, None] - xy_m[None]).T)
    together = grid.cell[:, None] == grid.cell[None]
    assert (distance_m[together] <= eps_m).all()
    beside = np.zeros_like(together)
    for offset in OFFSETS:
        there, cell = grid.beside(grid.key[grid.cell], offset)
        beside[there] |= cell[:, None] == grid.cell[None]
    assert beside[distance_m <= eps_m].all()


def test_the_nearest_cells_are_asked_first():
    away = [x**2 + y**2 for x, y in OFFSETS]
    assert OFFSETS[0] == (0, 0)
    assert away == sorted(away)


def test_one_way_every_pair_of_cells_is_met_once():
    both = {way for x, y in OFFSETS_ONE_WAY for way in ((x, y), (-x, -y))}
    assert both == set(OFFSETS) - {(0, 0)}
    assert 2 * len(OFFSETS_ONE_WAY) == len(both) == 24


def test_an_offset_counts_columns_to_the_east_and_rows_to_the_north():
    """Cells of 0.7 m: the second point lies in the row above the first, the third east of it."""
    grid = CellGrid.of(np.array([[0.0, 0.0], [0.0, 0.8], [0.8, 0.0]]), 1.0)
    ways = {(0, 1): (0, 1), (1, 0): (0, 2), (1, -1): (1, 2), (0, -1): (1, 0)}
    for offset, (start, end) in ways.items():
        there, cell = grid.beside(grid.key, offset)
        assert (there.tolist(), cell.tolist()) == ([start], [end])


def test_no_row_wraps_into_the_next_column():
    """A column of ten cells, and beside it one that holds only the lowest."""
    xy_m = np.array([(0.0, 0.7 * row + 0.3 * (row > 0)) for row in range(10)] + [(1.0, 0.0)])
    grid = CellGrid.of(xy_m, 1.0)
    assert grid.cell.tolist() == list(range(11))
    for offset in OFFSETS:
        there, cell = grid.beside(grid.key, offset)
        assert (np.abs(xy_m[there] - xy_m[cell]) < 3 * 0.7).all()
