import numpy as np
import pytest
import torch

from veilmap.area import Area
from veilmap.defences.obfuscation import map_distortion as module
from veilmap.defences.obfuscation.map_distortion import MapGrid, map_distortion
from veilmap.defences.obfuscation.standard_area import StandardArea
from veilmap.local_data import Scaler

AREA = Area(0, 0, 1000, 500)
GRID = MapGrid.of_area(StandardArea.of_area(AREA, Scaler.of_area(AREA)))


def some_records(n=200, seed=0):
    draw = np.random.default_rng(seed)
    return torch.from_numpy(draw.normal(0, (0.4, 0.4, 1), (n, 3)))


def by_brute_force(original, obfuscated, grid):
    """The same definition, square by square and point by point."""
    weighted, weights = 0.0, 0.0
    for x in grid.x.tolist():
        for y in grid.y.tolist():
            (m, q), (new, _) = (square(each, x, y, grid) for each in (original, obfuscated))
            weighted, weights = weighted + q * (new - m) ** 2, weights + q
    return weighted / weights


def square(records, x, y, grid):
    records = records.numpy()
    away = (records[:, :2] - (x, y)) / grid.bandwidth
    kernel = np.exp(-(away**2).sum(1) / 2)
    return (kernel * records[:, 2]).mean() / (kernel.mean() + module.PRIOR), kernel.mean()


def test_a_map_has_no_distortion_to_itself():
    assert map_distortion(some_records(), some_records(), GRID) == 0


@pytest.mark.parametrize("shift", [0.5, -2.0])
def test_labels_that_shift_by_c_cost_c_squared_where_data_is(shift):
    records = some_records()
    shifted = records + torch.tensor([0, 0, shift])
    assert float(map_distortion(records, shifted, GRID)) == pytest.approx(shift**2, rel=0.02)


@pytest.mark.parametrize("grid", [GRID, MapGrid(GRID.x + 0.4, GRID.y - 0.2, (0.1, 0.3))])
def test_it_is_the_definition_square_by_square(grid):
    original, obfuscated = some_records(30), some_records(30, seed=1)
    found = float(map_distortion(original, obfuscated, grid))
    assert found == pytest.approx(by_brute_force(original, obfuscated, grid), rel=1e-5)


def test_the_gradient_is_that_of_finite_differences():
    grid = MapGrid(GRID.x.double(), GRID.y.double(), GRID.bandwidth)
    original, obfuscated = some_records(6), some_records(6, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda new: map_distortion(original, new, grid), (obfuscated,))


def test_labels_without_measurements_do_not_count():
    at_home = some_records(50) * torch.tensor([0.01, 0.01, 0.0])
    elsewhere = torch.tensor([[1.5, 1.5, 3.0]])
    both = torch.cat([at_home, elsewhere])
    assert float(map_distortion(at_home, both, GRID)) == pytest.approx(0, abs=1e-6)


def test_positions_that_trade_places_cost_something():
    records = some_records()
    assert map_distortion(records, torch.cat([records.flip(0)[:, :2], records[:, 2:]], 1), GRID) > 0


def test_the_grid_covers_the_area_with_one_square_of_bandwidth():
    """An area of any size has sides √12 in its own scale; the first centre is half a square in."""
    side = np.sqrt(12)
    assert GRID.bandwidth == pytest.approx([side / 20] * 2)
    for centres in (GRID.x, GRID.y):
        np.testing.assert_allclose(centres[[0, -1]], [-side * 19 / 40, side * 19 / 40], rtol=1e-5)


def test_each_axis_has_its_own_squares():
    """Two units by four: squares of 0.1 by 0.2, the first centres half of that from the corner."""
    grid = MapGrid.of_area(StandardArea(torch.tensor([-1.0, -2.0]), torch.tensor([1.0, 2.0])))
    assert grid.bandwidth == pytest.approx((0.1, 0.2))
    np.testing.assert_allclose(grid.x[[0, -1]], [-0.95, 0.95], rtol=1e-5)
    np.testing.assert_allclose(grid.y[[0, -1]], [-1.9, 1.9], rtol=1e-5)


def test_an_area_without_width_has_a_finite_map():
    line = Area(100, 0, 100, 500)
    grid = MapGrid.of_area(StandardArea.of_area(line, Scaler.of_area(line)))
    assert grid.bandwidth[0] == 1
    records = some_records() * torch.tensor([0, 1, 1])
    distortion = map_distortion(records, records + torch.tensor([0, 0, 1.0]), grid)
    assert float(distortion) == pytest.approx(1, rel=0.02)


def test_records_far_outside_of_the_area_have_no_map_to_distort():
    far = some_records() + torch.tensor([1000.0, 0, 0])
    assert map_distortion(far.float(), some_records().float(), GRID) == 0
