"""Covariances between the squares of a grid, without their matrix."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft2, next_fast_len, rfft2

from veilmap.kriging.kernel import Kernel, Vector

Matrix = NDArray[np.float64]
Indices = NDArray[np.intp]
Shape = tuple[int, int]

THREADS = 2  # of the FFT and of searches for neighbours: the results do not depend on it


@dataclass(frozen=True)
class GridCovariance:
    """C between the squares of a grid. A square is a pair: its row, its column."""

    table: Matrix  # C by how many rows and columns two squares are apart
    spectrum: Matrix  # of C on a torus on which no two squares of the grid meet the other way round
    torus: Shape

    @classmethod
    def of(cls, kernel: Kernel, shape: Shape, side_m: float) -> "GridCovariance":
        """The covariance on a grid of so many rows and columns."""
        rows, columns = (next_fast_len(2 * size - 1, real=True) for size in shape)
        down, right = (np.minimum(np.arange(n), n - np.arange(n)) for n in (rows, columns))
        around = kernel.covariance(side_m * np.hypot(down[:, None], right))
        table = np.ascontiguousarray(around[: shape[0], : shape[1]])
        return cls(table, rfft2(around, workers=THREADS).real.copy(), (rows, columns))

    def between(self, some: Indices, others: Indices) -> Matrix:
        """C between all of some and all of other squares (..., n, 2), (..., m, 2): (..., n, m)."""
        down = np.abs(some[..., :, None, 0] - others[..., None, :, 0])
        right = np.abs(some[..., :, None, 1] - others[..., None, :, 1])
        found: Matrix = self.table.take(down * self.table.shape[1] + right)
        return found

    def field(self, squares: Indices, weights: Vector) -> Matrix:
        """The weighted sum of C to some squares, at every square: a convolution.

        By circulant embedding: Wood and Chan, J. Comput. Graph. Stat. 3 (1994). It is exact, also
        where the spectrum on the torus has negative values: only products are taken of it.
        """
        rows, columns = self.table.shape
        points = np.zeros((rows, columns))
        points[squares[:, 0], squares[:, 1]] = weights
        spectrum = rfft2(points, self.torus, workers=THREADS)
        spectrum *= self.spectrum
        everywhere = irfft2(spectrum, self.torus, workers=THREADS)
        found: Matrix = everywhere[:rows, :columns]
        return found


def with_noise(covariance: GridCovariance, squares: Indices, noise: Vector) -> Matrix:
    """C + noise among squares."""
    among = covariance.between(squares, squares)
    diagonal = np.arange(noise.shape[-1])
    among[..., diagonal, diagonal] += noise
    return among
