"""Spatially correlated shadowing: a Gaussian random field with exponential covariance.

Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics Letters 27
(1991): the covariance at distance r is σ² exp(-r/d).
"""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.campus.world import Array, Index

STEP_M = 10.0


@dataclass(frozen=True)
class Fields:
    """Several independent fields on one grid of ``STEP_M``, with mean 0 and variance 1."""

    values: Array  # field, row, column
    low_m: Array  # x and y of the first column and row

    @classmethod
    def draw(
        cls, count: int, low_m: Array, high_m: Array, length_m: float, draw: np.random.Generator
    ) -> "Fields":
        """By circulant embedding: exact at the grid points (Dietrich and Newsam, 1997).

        The torus is one correlation tail wider than the area, so that opposite edges do not meet.
        """
        columns, rows = np.ceil((high_m - low_m) / STEP_M).astype(int) + 2
        tail = int(np.ceil(5 * length_m / STEP_M))
        x, y = (_circle_m(size + tail) for size in (columns, rows))
        covariance = np.exp(-np.hypot(x[None, :], y[:, None]) / length_m)
        # Rounding leaves eigenvalues a little below zero.
        eigenvalues = np.maximum(np.fft.fft2(covariance).real, 0)
        values = np.empty((count, rows, columns))
        for field in values:
            noise = draw.normal(size=(2, *covariance.shape))
            spectrum = (noise[0] + 1j * noise[1]) * np.sqrt(eigenvalues / covariance.size)
            field[:] = np.fft.fft2(spectrum).real[:rows, :columns]
        return cls(values, low_m)

    def at(self, field: int, xy_m: Array) -> Array:
        """Values at any points, bilinear between the grid points."""
        last = np.array(self.values.shape[:0:-1]) - 2
        place = np.clip((xy_m - self.low_m) / STEP_M, 0, last + 0.999999)
        column, row = corner = place.astype(int).T
        right, up = place.T - corner
        return self._corners(field, row, column, up, right)

    def _corners(self, field: int, row: Index, column: Index, up: Array, right: Array) -> Array:
        grid = self.values[field]
        below = grid[row, column] * (1 - right) + grid[row, column + 1] * right
        above = grid[row + 1, column] * (1 - right) + grid[row + 1, column + 1] * right
        value: Array = below * (1 - up) + above * up
        return value


def _circle_m(size: int) -> Array:
    """Distances from the first of ``size`` points on a circle."""
    index = np.arange(size)
    return STEP_M * np.minimum(index, size - index)
