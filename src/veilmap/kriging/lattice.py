"""Universal kriging on the squares of a grid, in time and memory close to linear in the squares.

As ``DenseKriging``, but without a matrix: products with the covariance are convolutions by FFT,
the systems are solved by conjugate gradients that Vecchia's approximation preconditions, and the
standard deviation is that of kriging from the nearest visited squares, tile by tile.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from veilmap.kriging.conjugate_gradients import conjugate_gradients
from veilmap.kriging.grid_covariance import (
    THREADS,
    GridCovariance,
    Indices,
    Matrix,
    Shape,
    with_noise,
)
from veilmap.kriging.kernel import Kernel, Vector
from veilmap.kriging.vecchia import inverse_root
from veilmap.square_grid import OUTSIDE, SquareGrid

_NEAR = 16  # side of the box of squares that count one by one for the mean between squares
_NODES = 4  # side of that from which the rest is interpolated, by cubic polynomials
_NEIGHBOURS, _TILE = 192, 8  # of the standard deviation
_AT_CENTRE = 1e-6  # of a side: places no farther from the middles of squares are there
_BLOCK = 1 << 22  # covariances held at once


@dataclass(frozen=True)
class LatticeKriging:
    """The model of ``DenseKriging`` on the squares of a grid."""

    kernel: Kernel
    grid: SquareGrid
    covariance: GridCovariance
    squares: Indices  # row and column of the visited ones, no two the same
    noise: Vector  # τ²/k
    weights: Vector  # (C + τ²/k)⁻¹ (y − μ)
    of_ones: Vector  # (C + τ²/k)⁻¹ 1
    mean_db: float

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        grid: SquareGrid,
        numbers: Indices,
        mean_db: Vector,
        k: Vector,
        tolerance: float = 1e-8,
    ) -> "LatticeKriging":
        """Solve for the weights of the visited squares, to a tolerance relative to them."""
        covariance = GridCovariance.of(kernel, (grid.rows, grid.columns), grid.side_m)
        squares = np.column_stack(np.divmod(numbers, grid.columns))
        noise = kernel.noise_db**2 / k

        def product(weights: Vector) -> Vector:
            field = covariance.field(squares, weights)
            found: Vector = field[squares[:, 0], squares[:, 1]] + noise * weights
            return found

        def precondition(rest: Vector) -> Vector:
            found: Vector = root.T @ (root @ rest)
            return found

        with threadpool_limits(1, user_api="blas"):  # so that bits do not depend on the cores
            root = inverse_root(covariance, squares, noise)
            ones = np.ones(len(squares))
            of_ones = conjugate_gradients(product, precondition, ones, tolerance)
            constant = float(of_ones @ mean_db / of_ones.sum())
            weights = conjugate_gradients(product, precondition, mean_db - constant, tolerance)
        return cls(kernel, grid, covariance, squares, noise, weights, of_ones, constant)

    def predict(self, xy_m: Matrix) -> tuple[Vector, Vector]:
        """As of ``DenseKriging``; within the grid the deviation is that of the nearest square."""
        number = self.grid.nearest(xy_m)
        inside = self.grid.squares(xy_m) == number
        std_db = self.std_everywhere.ravel()[number]
        std_db[~inside] = [self._std_outside(place_m) for place_m in xy_m[~inside]]
        return self.mean(xy_m), std_db

    def mean(self, xy_m: Matrix) -> Vector:
        """The mean at places, which may lie outside the grid."""
        inside, mean_db = self.grid.squares(xy_m) != OUTSIDE, np.empty(len(xy_m))
        places = self.grid.fractional_index(xy_m[inside])
        squares = np.rint(places).astype(np.intp)
        if np.allclose(places, squares, rtol=0, atol=_AT_CENTRE):
            mean_db[inside] = self.mean_everywhere()[squares[:, 0], squares[:, 1]]
        else:
            mean_db[inside] = self.mean_at(places)
        across = (self._covariance_to(place_m) for place_m in xy_m[~inside])
        mean_db[~inside] = [self.mean_db + self.weights @ each for each in across]
        return mean_db

    def mean_everywhere(self) -> Matrix:
        """The mean at every square."""
        return self.mean_db + self.covariance.field(self.squares, self.weights)

    def mean_at(self, places: Matrix) -> Vector:
        """The mean at places between the squares, each a fractional row and column.

        Of the sum over the visited squares, the near ones are summed one by one; the rest, which
        is smooth, is interpolated: Phillips and White's precorrected FFT, IEEE TCAD 16 (1997).
        """
        weights = np.zeros(self.covariance.table.shape)
        weights[self.squares[:, 0], self.squares[:, 1]] = self.weights
        field = self.covariance.field(self.squares, self.weights)
        step = max(_BLOCK // (_NEAR * _NODES) ** 2, 1)
        found = np.empty(len(places))
        for start in range(0, len(places), step):
            part = slice(start, start + step)
            found[part] = self.mean_db + self._sum_at(places[part], weights, field)
        return found

    def _sum_at(self, places: Matrix, weights: Matrix, field: Matrix) -> Vector:
        near, around = (_box_around(places, size, weights.shape) for size in (_NEAR, _NODES))
        strength = weights[near[..., 0], near[..., 1]]
        apart_m = self.grid.side_m * np.linalg.norm(places[:, None] - near, axis=2)
        there = (self.kernel.covariance(apart_m) * strength).sum(axis=1)
        at_nodes = (self.covariance.between(around, near) @ strength[..., None])[..., 0]
        rest = field[around[..., 0], around[..., 1]] - at_nodes
        found: Vector = there + (_interpolation(places, around) * rest).sum(axis=1)
        return found

    def _covariance_to(self, place_m: Vector) -> Vector:
        """C between a place and all visited squares."""
        visited_m = self.grid.centres_m(self.squares @ (self.grid.columns, 1))
        return self.kernel.covariance(cdist(visited_m, place_m[None])[:, 0])

    def _std_outside(self, place_m: Vector) -> float:
        """From the visited squares nearest to a place, as within the grid."""
        across = self._covariance_to(place_m)
        near = np.argsort(-across, kind="stable")[:_NEIGHBOURS]
        among = with_noise(self.covariance, self.squares[near], self.noise[near])
        known = float(across[near] @ np.linalg.solve(among, across[near]))
        of_mean = (1 - self.of_ones @ across) ** 2 / self.of_ones.sum()
        return sqrt(max(self.kernel.std_db**2 - known, 0) + of_mean)

    @cached_property
    def std_everywhere(self) -> Matrix:
        """The standard deviation of f at every square."""
        return self.std_from(_NEIGHBOURS)

    def std_from(self, neighbours: int, tile: int = _TILE) -> Matrix:
        """The standard deviation of f at every square, μ's own included.

        f is kriged from the visited squares nearest to the middle of its tile, so that the result
        is never too small, and exact where they are all (Chilès and Delfiner, section 3.6).
        """
        unexplained = np.empty(self.covariance.table.shape)
        with threadpool_limits(1, user_api="blas"):
            for inside, near in self._tiles(min(neighbours, len(self.squares)), tile):
                among = with_noise(self.covariance, self.squares[near], self.noise[near])
                across = self.covariance.between(self.squares[near], inside)
                known = (across * np.linalg.solve(among, across)).sum(axis=1)
                unexplained[inside[..., 0], inside[..., 1]] = self.kernel.std_db**2 - known
        of_mean = (1 - self.covariance.field(self.squares, self.of_ones)) ** 2
        found: Matrix = np.sqrt(np.maximum(unexplained, 0) + of_mean / self.of_ones.sum())
        return found

    def _tiles(self, neighbours: int, tile: int) -> Iterator[tuple[Indices, Indices]]:
        """Squares of some tiles at a time, and which visited squares are nearest to each tile."""
        shape = self.covariance.table.shape
        size = np.minimum(shape, tile)
        corners = _box(*-(-np.array(shape) // size)) * size
        tree = cKDTree(self.squares)
        step = max(_BLOCK // (neighbours * max(neighbours, size.prod())), 1)
        for start in range(0, len(corners), step):
            some = corners[start : start + step]
            ranks = np.arange(1, neighbours + 1)
            _, near = tree.query(some + (size - 1) / 2, ranks, workers=THREADS)
            yield np.minimum(some[:, None] + _box(*size), np.array(shape) - 1), near


def _interpolation(places: Matrix, nodes: Indices) -> Matrix:
    """Lagrange's weights, at places, of all nodes of a box: (n, 2), (n, m, 2) to (n, m)."""
    apart = nodes[:, :, None] - nodes[:, None]
    on_line = (apart != 0) & (apart[..., ::-1] == 0)
    share = (places[:, None, None] - nodes[:, None]) / np.where(on_line, apart, 1)
    found: Matrix = np.where(on_line, share, 1).prod(axis=(2, 3))
    return found


def _box_around(places: Matrix, size: int, shape: Shape) -> Indices:
    """The squares of a box, within the grid, in whose middle a place is, of each place."""
    sizes = np.minimum(shape, size)
    corners = np.floor(places).astype(np.intp) - sizes // 2 + 1
    found: Indices = np.clip(corners, 0, shape - sizes)[:, None] + _box(*sizes)
    return found


def _box(rows: int, columns: int) -> Indices:
    """All squares of a box at the origin."""
    return np.indices((rows, columns)).reshape(2, -1).T
