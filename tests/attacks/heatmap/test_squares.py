import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from veilmap.area import Area
from veilmap.attacks.heatmap.squares import Squares

SIDES_M = st.sampled_from([0.0, 0.3, 1.0, 7.0, 350.0, 1999.5, 2000.0])
AREAS = st.builds(
    lambda width, height: Area(50.0, -70.0, 50.0 + width, height - 70.0), SIDES_M, SIDES_M
)


@given(area=AREAS, count=st.integers(4, 500))
def test_the_first_grid_covers_the_area_with_about_the_asked_number(area, count):
    cells = Squares.cover(area, count)
    (index,) = cells.index.numpy()
    assert area.contains(cells.xy_m[0].numpy()).all()
    assert len(np.unique(index, axis=0)) == len(cells)
    reach = (index.max(axis=0) + 1) * cells.side_m
    assert (reach >= [area.width_m - 1e-9, area.height_m - 1e-9]).all()
    columns, rows = index.max(axis=0) + 1
    assert len(cells) == columns * rows
    if min(area.width_m, area.height_m) >= 1:
        assert count / 2 <= len(cells) <= 2.5 * count


def split_by_hand(area, cells, update, chosen):
    """The quarters of the chosen cells of one update and of their neighbours, in order."""
    steps = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    parents = sorted(
        {(x + dx, y + dy) for x, y in cells.index[update][chosen].tolist() for dx, dy in steps}
    )
    quarters = [(2 * x + i, 2 * y + j) for x, y in parents for j in (0, 1) for i in (0, 1)]
    size_m = np.maximum([area.width_m, area.height_m], cells.side_m / 2)
    begins_m = np.array(quarters) * cells.side_m / 2
    return np.array(quarters)[((begins_m >= 0) & (begins_m < size_m)).all(axis=1)].tolist()


@given(area=AREAS, count=st.integers(4, 60), seed=st.integers(0, 99), levels=st.integers(1, 3))
def test_split_quarters_the_chosen_cells_of_each_update_and_their_neighbours(
    area, count, seed, levels
):
    """An update that chose none has none."""
    draw, cells = np.random.default_rng(seed), Squares.cover(area, count)
    for _ in range(levels):
        chosen = (draw.random((3, len(cells))) < [[0.3], [0.1], [0.0]]) & cells.real.numpy()
        chosen[0, 0] = True
        finer = cells.split(torch.from_numpy(chosen))
        assert finer.side_m == cells.side_m / 2
        wide = Squares(area, cells.side_m, cells.index.expand(3, -1, 2), cells.real)
        for update in range(3):
            mine = finer.real[update]
            by_hand = (
                split_by_hand(area, wide, update, chosen[update]) if chosen[update].any() else []
            )
            assert finer.index[update][mine].tolist() == by_hand
            assert area.contains(finer.xy_m[update][mine].numpy()).all()
        assert len(finer) == finer.real.sum(1).max()
        cells = finer


def only(cells, column, row):
    return (cells.index == torch.tensor([column, row])).all(-1)


def test_a_chosen_cell_is_quartered_with_its_eight_neighbours():
    """Of 10 x 10 cells of 10 m, (4, 4) and its neighbours have the 6 x 6 quarters from (6, 6)."""
    cells = Squares.cover(Area(0, 0, 100, 100), 100)
    assert (len(cells), cells.side_m) == (100, 10.0)
    finer = cells.split(only(cells, 4, 4))
    expected = [[x, y] for x in range(6, 12) for y in range(6, 12)]
    assert sorted(finer.index[0].tolist()) == expected
    assert finer.xy_m[0].amin(0).tolist() == [32.5, 32.5]
    assert finer.xy_m[0].amax(0).tolist() == [57.5, 57.5]


def test_a_corner_cell_has_neighbours_on_two_sides_only():
    cells = Squares.cover(Area(0, 0, 100, 100), 100)
    finer = cells.split(only(cells, 0, 0))
    assert sorted(finer.index[0].tolist()) == [[x, y] for x in range(4) for y in range(4)]


def test_cells_far_from_the_corner_lie_where_float64_has_them():
    """A number of float32 is a tenth of a millimetre off."""
    cells = Squares.cover(Area(500_000.1, 4_000_000.2, 503_000.1, 4_003_000.2), 2500)
    by_hand = [500_000.1 + 37.5 * cells.side_m, 4_000_000.2 + 41.5 * cells.side_m]
    assert cells.xy_m[only(cells, 37, 41)].tolist() == [pytest.approx(by_hand, rel=1e-15)]


@pytest.mark.parametrize("area", [Area(0, 0, 0, 500), Area(0, 0, 500, 0.2)])
def test_a_thin_area_is_a_row_of_cells(area):
    cells = Squares.cover(area, 50)
    assert len(cells) == 50
    assert len(np.unique(cells.xy_m[0], axis=0)) == 50
    finer = cells.split(torch.arange(50)[None] == 20)
    assert len(finer) == 6
    assert area.contains(finer.xy_m[0].numpy()).all()
