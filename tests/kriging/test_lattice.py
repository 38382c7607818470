"""The lattice agrees with the dense solve and keeps the laws of kriging."""

import numpy as np
import pytest

from veilmap.kriging.conjugate_gradients import conjugate_gradients
from veilmap.kriging.dense import DenseKriging
from veilmap.kriging.grid_covariance import GridCovariance
from veilmap.kriging.kernel import Kernel
from veilmap.kriging.lattice import LatticeKriging
from veilmap.kriging.observed import Observed
from veilmap.kriging.vecchia import inverse_root
from veilmap.square_grid import SquareGrid

SIDE_M = 25.0
SHAPE = (40, 55)
KERNELS = {
    "usual": Kernel(),
    "noisy": Kernel(noise_db=20.0),
    "precise and long": Kernel(noise_db=0.3, long_m=3000.0),
    "short": Kernel(short_m=0.3 * SIDE_M, long_m=3000.0),
}
PATTERNS = ("all", "random", "roads")


def grid_of(shape):
    return SquareGrid(500.0, -300.0, SIDE_M, *shape)


def visited(pattern, shape):
    """The numbers of all squares, of 30 % of them, or of those on crossing lines."""
    seen = np.ones(shape, bool)
    if pattern == "random":
        seen = np.random.default_rng(0).random(shape) < 0.3
    elif pattern == "roads":
        row, column = np.indices(shape)
        seen = (row % 13 == 3) | ((row + 2 * column) % 31 == 0)
    return np.flatnonzero(seen)


def values(squares, shape, kernel):
    """A smooth field with the kernel's noise; most squares have few values, some ten thousand."""
    draw = np.random.default_rng(1)
    row, column = np.divmod(squares, shape[1])
    k = np.clip(np.ceil(draw.pareto(1.1, len(squares))), 1, 1e4)
    noise = np.hypot(3, kernel.noise_db / np.sqrt(k)) * draw.normal(size=len(k))
    return -90 + 8 * np.sin(row / 9) + column / 13 + noise, k


def lattice_of(pattern, shape, kernel):
    squares = visited(pattern, shape)
    return LatticeKriging.of(kernel, grid_of(shape), squares, *values(squares, shape, kernel))


def dense_of(pattern, shape, kernel):
    squares = visited(pattern, shape)
    mean_db, k = values(squares, shape, kernel)
    return DenseKriging.of(kernel, Observed(grid_of(shape).centres_m(squares), mean_db, k))


def everywhere_m(shape):
    return grid_of(shape).centres_m(np.arange(shape[0] * shape[1]))


def off(found, true):
    return np.linalg.norm(found - true) / np.linalg.norm(true)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_agrees_with_the_dense_solve(pattern, kernel):
    """The weights and the mean to 1e-6; the standard deviation is never smaller."""
    lattice, dense = lattice_of(pattern, SHAPE, kernel), dense_of(pattern, SHAPE, kernel)
    mean_db, std_db = dense.predict(everywhere_m(SHAPE))
    assert off(lattice.weights, dense.weights) < 1e-6
    assert lattice.mean_db == pytest.approx(dense.mean_db, abs=1e-6)
    np.testing.assert_allclose(lattice.mean_everywhere().ravel(), mean_db, rtol=0, atol=1e-5)
    ratio = lattice.std_everywhere.ravel() / std_db
    assert ratio.min() > 1 - 1e-6
    assert ratio.max() < 1.06
    assert ratio.mean() < 1.01


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_between_squares_and_outside_the_grid_it_agrees_too(pattern, kernel):
    lattice, dense = lattice_of(pattern, SHAPE, kernel), dense_of(pattern, SHAPE, kernel)
    places_m = np.array([500, -300]) + np.random.default_rng(3).uniform(-0.1, 1.1, (300, 2)) * (
        SIDE_M * np.array(SHAPE[::-1])
    )
    mean_db, std_db = lattice.predict(places_m)
    np.testing.assert_allclose(mean_db, dense.predict(places_m)[0], atol=5e-3)
    # That of the nearest square: at a place itself it differs by what f varies within a square.
    within_db = np.sqrt(2 * (kernel.std_db**2 - kernel.covariance(np.array([SIDE_M / 2]))[0]))
    inside = grid_of(SHAPE).squares(places_m) >= 0
    true_db = dense.predict(places_m)[1]
    assert (np.abs(std_db - true_db)[inside] < within_db).all()
    np.testing.assert_allclose(std_db[~inside], true_db[~inside], rtol=0.06)
    np.testing.assert_allclose(lattice.mean(places_m), mean_db)


@pytest.mark.parametrize("shape", [(1, 300), (300, 1), (1, 2), (1, 1), (3, 50)])
def test_a_grid_may_be_narrow(shape):
    lattice, dense = (made("all", shape, Kernel()) for made in (lattice_of, dense_of))
    mean_db, std_db = dense.predict(everywhere_m(shape))
    np.testing.assert_allclose(lattice.mean_everywhere().ravel(), mean_db, atol=1e-5)
    np.testing.assert_allclose(lattice.std_everywhere.ravel(), std_db, rtol=1e-3)
    np.testing.assert_allclose(lattice.predict(everywhere_m(shape))[0], mean_db, atol=1e-5)


def test_with_all_neighbours_the_standard_deviation_is_exact():
    lattice, dense = (made("roads", (33, 47), Kernel()) for made in (lattice_of, dense_of))
    std_db = dense.predict(everywhere_m((33, 47)))[1]
    exact = lattice.std_from(neighbours=len(lattice.weights), tile=50)
    np.testing.assert_allclose(exact.ravel(), std_db, rtol=1e-9)


def test_more_neighbours_never_make_the_standard_deviation_larger():
    lattice = lattice_of("roads", SHAPE, Kernel(noise_db=20.0))
    few, more = (lattice.std_from(neighbours) for neighbours in (32, 64))
    assert (more <= few * (1 + 1e-9)).all()


def test_one_visited_square_is_the_mean_everywhere():
    lattice = LatticeKriging.of(
        Kernel(), grid_of((20, 30)), np.array([127]), np.array([-80.0]), np.ones(1)
    )
    assert lattice.mean_db == pytest.approx(-80)
    np.testing.assert_allclose(lattice.mean_everywhere(), -80)


def test_without_noise_it_interpolates():
    squares = visited("random", SHAPE)
    mean_db, _ = values(squares, SHAPE, Kernel())
    k = np.ones(len(squares))
    lattice = LatticeKriging.of(Kernel(noise_db=1e-4), grid_of(SHAPE), squares, mean_db, k)
    np.testing.assert_allclose(lattice.mean_everywhere().ravel()[squares], mean_db, atol=1e-6)
    assert lattice.std_everywhere.ravel()[squares].max() < 2e-4


def test_far_away_it_returns_to_the_mean():
    kernel, shape = Kernel(short_m=30.0, long_m=60.0), (20, 400)
    squares = visited("all", (20, 20))
    numbers = squares // 20 * 400 + squares % 20
    lattice = LatticeKriging.of(kernel, grid_of(shape), numbers, *values(squares, (20, 20), kernel))
    np.testing.assert_allclose(lattice.mean_everywhere()[:, 200:], lattice.mean_db, atol=1e-6)


def test_a_shift_of_the_values_shifts_the_mean_alone():
    squares = visited("roads", SHAPE)
    mean_db, k = values(squares, SHAPE, Kernel())
    one, other = (
        LatticeKriging.of(Kernel(), grid_of(SHAPE), squares, each, k)
        for each in (mean_db, mean_db + 100)
    )
    assert other.mean_db - one.mean_db == pytest.approx(100)
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-7)


def test_the_order_of_the_squares_does_not_matter():
    squares = visited("roads", SHAPE)
    mean_db, k = values(squares, SHAPE, Kernel())
    turn = np.random.default_rng(5).permutation(len(k))
    one = LatticeKriging.of(Kernel(), grid_of(SHAPE), squares, mean_db, k)
    other = LatticeKriging.of(Kernel(), grid_of(SHAPE), squares[turn], mean_db[turn], k[turn])
    np.testing.assert_allclose(other.weights, one.weights[turn], atol=1e-7)


def test_the_same_values_give_the_same_bits():
    one, other = (lattice_of("random", SHAPE, Kernel()) for _ in range(2))
    assert (one.weights == other.weights).all()
    assert (one.std_everywhere == other.std_everywhere).all()


def test_of_few_squares_the_preconditioner_is_the_inverse():
    squares, noise = np.argwhere(np.ones((3, 6))), np.linspace(1, 9, 18)
    covariance = GridCovariance.of(Kernel(), (3, 6), SIDE_M)
    root = inverse_root(covariance, squares, noise).toarray()
    matrix = covariance.between(squares, squares) + np.diag(noise)
    np.testing.assert_allclose(root.T @ root @ matrix, np.eye(18), atol=1e-9)


def test_a_system_without_solution_in_time_is_an_error():
    """A product that is not positive definite never comes nearer."""
    with pytest.raises(ArithmeticError, match="no solution to 1e-08 in 2000 steps"):
        conjugate_gradients(
            lambda x: np.array([x[1], -x[0]]) + 1e-3 * x, lambda x: x, np.array([1.0, 2.0]), 1e-8
        )


def test_all_places_may_lie_outside_and_there_may_be_none():
    """Far away nothing is known but the mean, and that is known the better the more there is."""
    lattice, dense = (made("roads", SHAPE, Kernel()) for made in (lattice_of, dense_of))
    far_m = np.array([[1e7, 1e7], [-1e6, 0.0]])
    for found, true in zip(lattice.predict(far_m), dense.predict(far_m), strict=True):
        np.testing.assert_allclose(found, true, rtol=1e-6)
    assert [len(each) for each in lattice.predict(np.empty((0, 2)))] == [0, 0]


def test_at_the_middles_of_squares_the_mean_is_that_of_the_squares(monkeypatch):
    lattice, dense = (made("roads", SHAPE, Kernel()) for made in (lattice_of, dense_of))
    monkeypatch.setattr(LatticeKriging, "mean_at", lambda *given: pytest.fail("is slow"))
    found = lattice.mean(everywhere_m(SHAPE)[::-1] + 1e-9)
    np.testing.assert_allclose(found, dense.mean(everywhere_m(SHAPE)[::-1]), atol=1e-5)
