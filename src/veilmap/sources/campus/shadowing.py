"""Spatially correlated shadowing: a Gaussian random field with exponential covariance.

Gudmundson, "Correlation model for shadow fading in mobile radio systems", Electronics Letters 27
(1991): the covariance at distance r is σ² exp(-r/d).
"""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.campus.world import Array

STEP_M = 10.0


@dataclass(frozen=True)
class Fields:
    """Several independent fields on one grid of ``STEP_M``, with mean 0 and variance 1."""

    values: Array  # field, row, column
    low_m: Array  # x and y of the first column and row
    length_m: float

    @classmethod
    def draw(
        cls, count: int, low_m: Array, high_m: Array, length_m: float, draw: np.random.Generator
    ) -> "Fields":
        """By circulant embedding (Dietrich and Newsam, 1997).

        The torus is five lengths wider than the area: opposite edges correlate by exp(-5) at most.
        """
        columns, rows = np.ceil((high_m - low_m) / STEP_M).astype(int) + 2
        tail = int(np.ceil(5 * length_m / STEP_M))
        x, y = (_circle_m(size + tail) for size in (columns, rows))
        covariance = np.exp(-np.hypot(x[None, :], y[:, None]) / length_m)
        # On a torus some eigenvalues fall below zero; the others compensate.
        eigenvalues = np.maximum(np.fft.fft2(covariance).real, 0)
        amplitudes = np.sqrt(eigenvalues / eigenvalues.sum())
        values = np.empty((count, rows, columns))
        for field in values:
            noise = draw.normal(size=(2, *covariance.shape))
            spectrum = (noise[0] + 1j * noise[1]) * amplitudes
            field[:] = np.fft.fft2(spectrum).real[:rows, :columns]
        return cls(values, low_m, length_m)

    def at(self, field: int, xy_m: Array) -> Array:
        """Values at any points: bilinear, scaled to variance 1 between grid points too."""
        last = np.array(self.values.shape[:0:-1]) - 2
        place = np.clip((xy_m - self.low_m) / STEP_M, 0, last + 0.999999)
        column, row = corner = place.astype(int).T
        right, up = place.T - corner
        weights = np.stack([(1 - up) * (1 - right), (1 - up) * right, up * right, up * (1 - right)])
        grid = self.values[field]
        around = np.stack(
            [grid[row, column], grid[row, column + 1], grid[row + 1, column + 1],
             grid[row + 1, column]]
        )  # fmt: skip
        value: Array = (weights * around).sum(axis=0) / np.sqrt(self._variance(weights))
        return value

    def _variance(self, weights: Array) -> Array:
        """The variance of a weighted mean of a square's four corners, in order around it."""
        side, diagonal = np.exp(-STEP_M * np.array([1, np.sqrt(2)]) / self.length_m)
        next_to, opposite = np.roll(weights, 1, axis=0), np.roll(weights, 2, axis=0)
        variance: Array = (weights * (weights + 2 * side * next_to + diagonal * opposite)).sum(0)
        return variance


def _circle_m(size: int) -> Array:
    """Distances from the first of ``size`` points on a circle."""
    index = np.arange(size)
    return STEP_M * np.minimum(index, size - index)
