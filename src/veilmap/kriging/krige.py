"""Kriging of the means of squares, by whichever solver suits their number."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from veilmap.kriging.dense import DenseKriging
from veilmap.kriging.kernel import Kernel, Vector
from veilmap.kriging.lattice import LatticeKriging
from veilmap.kriging.observed import Observed
from veilmap.square_grid import SquareGrid

# The most squares for which a matrix is factored, in a tenth of a second.
MOST_DENSE = 1500


class Kriging(Protocol):
    """A signal everywhere, from the means of some places."""

    @property
    def kernel(self) -> Kernel:
        """What the signal at one place tells of that at another."""

    def mean(self, xy_m: NDArray[np.float64]) -> Vector:
        """The mean at places alone, which is much quicker."""

    def predict(self, xy_m: NDArray[np.float64]) -> tuple[Vector, Vector]:
        """The mean at places, and the standard deviation of f there."""


def krige(
    kernel: Kernel, grid: SquareGrid, squares: NDArray[np.int64], mean_db: Vector, k: Vector
) -> Kriging:
    """From the means of k values each of some squares of a grid."""
    if len(squares) > MOST_DENSE:
        return LatticeKriging.of(kernel, grid, squares, mean_db, k)
    return DenseKriging.of(kernel, Observed(grid.centres_m(squares), mean_db, k))
