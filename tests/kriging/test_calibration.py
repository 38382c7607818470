"""Intervals hold what they promise, also where the kernel is wrong."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from veilmap.kriging.calibration import NORMAL, Calibration, calibrated
from veilmap.kriging.kernel import Kernel
from veilmap.kriging.krige import krige
from veilmap.kriging.lattice import LatticeKriging
from veilmap.model.threads import one_thread
from veilmap.square_grid import SquareGrid

TRUE = Kernel(3.0, 60.0, 8.0, 500.0, 4.0)
GRID = SquareGrid(0.0, 0.0, 25.0, 24, 24)
FOLDS = 8


@pytest.fixture(autouse=True)
def _on_one_thread():
    with one_thread():
        yield


def reports(seed, share=0.25):
    """The signal of one field drawn from the true kernel, and reports of it in eight folds."""
    draw = np.random.default_rng(seed)
    everywhere = GRID.centres_m(np.arange(len(GRID)))
    covariance = TRUE.covariance(cdist(everywhere, everywhere))
    field = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(GRID))) @ draw.normal(size=len(GRID))
    k = (draw.random((FOLDS, len(GRID))) < share / 2).astype(float)
    sums_db = k * (field + TRUE.noise_db * draw.normal(size=k.shape))
    visited = np.flatnonzero(k.any(axis=0))
    return field, visited, k[:, visited], sums_db[:, visited]


def held(kernel, seed):
    """The share of new reports inside the intervals of a map with this kernel."""
    field, visited, k, sums_db = reports(seed)
    found = calibrated(kernel, GRID, visited, k, sums_db)
    counts = k.sum(axis=0)
    kriged = krige(kernel, GRID, visited, sums_db.sum(axis=0) / counts, counts)
    mean_db, std_db = kriged.predict(GRID.centres_m(np.arange(len(GRID))))
    draw = np.random.default_rng([seed, 1])
    error_db = np.abs(field + TRUE.noise_db * draw.normal(size=len(field)) - mean_db)
    width_db = np.hypot(std_db, kernel.noise_db)
    return [(error_db <= factor * width_db).mean() for factor in (found.within_68, found.within_95)]


@pytest.mark.parametrize(
    "kernel",
    [TRUE, Kernel(3.0, 60.0, 8.0, 500.0, 1.5), Kernel(3.0, 60.0, 20.0, 500.0, 10.0)],
    ids=["true", "far too sure", "far too unsure"],
)
def test_intervals_hold_what_they_promise_whatever_the_kernel(kernel):
    """Over six fields 68 and 95 % of new reports to 6 and 4 points.

    Normal widths hold 34 and 62 %, or 98 and 100 %, with the wrong kernels.
    """
    of_68, of_95 = np.mean([held(kernel, seed) for seed in range(6)], axis=0)
    assert of_68 == pytest.approx(0.68, abs=0.06)
    assert of_95 == pytest.approx(0.95, abs=0.04)


def test_with_the_true_kernel_widths_are_those_of_the_normal_distribution():
    found = [calibrated(TRUE, GRID, *reports(seed)[1:]) for seed in range(6)]
    assert np.mean([each.within_68 for each in found]) == pytest.approx(NORMAL[0], rel=0.1)
    assert np.mean([each.within_95 for each in found]) == pytest.approx(NORMAL[1], rel=0.1)


def test_with_nothing_to_set_aside_the_normal_distribution_is_taken():
    """One round, or none: there is nothing else to predict it from."""
    _, visited, k, sums_db = reports(0)
    k[1:], sums_db[1:] = 0, 0
    assert calibrated(TRUE, GRID, visited, k, sums_db) == Calibration(*NORMAL, 0)
    assert calibrated(TRUE, GRID, visited[:0], k[:, :0], sums_db[:, :0]) == Calibration()


def test_few_places_hardly_move_the_widths():
    """One place that is ten standard deviations off: λ = 1 / 11 of some 12 in the logarithm."""
    squares = np.array([0, 1])
    k = np.zeros((FOLDS, 2))
    k[0], k[1] = 1, 1
    wild = Kernel(1.0, 50.0, 1.0, 100.0, 1.0)
    found = calibrated(wild, GRID, squares, k, np.array([[0.0, 0], [30, 30], *[[0.0, 0]] * 6]))
    assert found.places == 1
    assert 1.0 < found.within_68 / NORMAL[0] < 1.4


def test_the_order_of_the_folds_does_not_matter():
    _, visited, k, sums_db = reports(3)
    turn = np.random.default_rng(0).permutation(FOLDS)
    one, other = (
        calibrated(TRUE, GRID, visited, k[rows], sums_db[rows]) for rows in (slice(None), turn)
    )
    assert (one.within_68, one.within_95) == pytest.approx((other.within_68, other.within_95))


def test_equal_signals_leave_narrow_intervals_and_no_zero():
    _, visited, k, _ = reports(4)
    found = calibrated(TRUE, GRID, visited, k, -90 * k)
    assert 0 < found.within_68 < 0.2


def test_of_many_squares_the_lattice_is_taken(monkeypatch):
    _, visited, k, sums_db = reports(5)
    counts = k.sum(axis=0)
    mean_db = sums_db.sum(axis=0) / counts
    dense = krige(TRUE, GRID, visited, mean_db, counts)
    monkeypatch.setattr("veilmap.kriging.krige.MOST_DENSE", 100)
    lattice = krige(TRUE, GRID, visited, mean_db, counts)
    assert isinstance(lattice, LatticeKriging)
    everywhere = GRID.centres_m(np.arange(len(GRID)))
    for found, true in zip(lattice.predict(everywhere), dense.predict(everywhere), strict=True):
        np.testing.assert_allclose(found, true, rtol=0.02)
    monkeypatch.setattr("veilmap.kriging.calibration._ALL_FOLDS_BELOW", 100)
    assert calibrated(TRUE, GRID, visited, k, sums_db).places > 50
