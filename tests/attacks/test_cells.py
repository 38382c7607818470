import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veilmap.area import Area
from veilmap.attacks.cells import Cells

SIDES_M = st.sampled_from([0.0, 0.3, 1.0, 7.0, 350.0, 1999.5, 2000.0])
AREAS = st.builds(
    lambda width, height: Area(50.0, -70.0, 50.0 + width, height - 70.0), SIDES_M, SIDES_M
)


@given(area=AREAS, count=st.integers(4, 500))
def test_the_first_grid_covers_the_area_with_about_the_asked_number(area, count):
    cells = Cells.cover(area, count)
    assert area.contains(cells.xy_m).all()
    assert len(np.unique(cells.index, axis=0)) == len(cells)
    reach = (cells.index.max(axis=0) + 1) * cells.side_m
    assert (reach >= [area.width_m - 1e-9, area.height_m - 1e-9]).all()
    columns, rows = cells.index.max(axis=0) + 1
    assert len(cells) == columns * rows
    if min(area.width_m, area.height_m) >= 1:
        assert count / 2 <= len(cells) <= 2.5 * count


@given(area=AREAS, count=st.integers(4, 60), seed=st.integers(0, 99), levels=st.integers(1, 3))
def test_split_keeps_inside_and_repeats_nothing(area, count, seed, levels):
    draw, cells = np.random.default_rng(seed), Cells.cover(area, count)
    for _ in range(levels):
        chosen = draw.random(len(cells)) < 0.3
        chosen[draw.integers(len(cells))] = True
        finer = cells.split(chosen)
        assert finer.side_m == cells.side_m / 2
        assert len(np.unique(finer.index, axis=0)) == len(finer)
        assert area.contains(finer.xy_m).all()
        parents = {tuple(each) for each in finer.index // 2}
        assert {tuple(each) for each in cells.index[chosen]} <= parents
        cells = finer


def test_a_chosen_cell_is_quartered_with_its_eight_neighbours():
    """Of 10 x 10 cells of 10 m, (4, 4) and its neighbours have the 6 x 6 quarters from (6, 6)."""
    cells = Cells.cover(Area(0, 0, 100, 100), 100)
    assert (len(cells), cells.side_m) == (100, 10.0)
    finer = cells.split((cells.index == [4, 4]).all(axis=1))
    assert sorted(map(tuple, finer.index)) == [(x, y) for x in range(6, 12) for y in range(6, 12)]
    assert finer.xy_m.min(axis=0).tolist() == [32.5, 32.5]
    assert finer.xy_m.max(axis=0).tolist() == [57.5, 57.5]


def test_a_corner_cell_has_neighbours_on_two_sides_only():
    cells = Cells.cover(Area(0, 0, 100, 100), 100)
    finer = cells.split((cells.index == [0, 0]).all(axis=1))
    assert sorted(map(tuple, finer.index)) == [(x, y) for x in range(4) for y in range(4)]


@pytest.mark.parametrize("area", [Area(0, 0, 0, 500), Area(0, 0, 500, 0.2)])
def test_a_thin_area_is_a_row_of_cells(area):
    cells = Cells.cover(area, 50)
    assert len(cells) == 50
    assert len(np.unique(cells.xy_m, axis=0)) == 50
    finer = cells.split(np.arange(50) == 20)
    assert len(finer) == 6
    assert area.contains(finer.xy_m).all()
