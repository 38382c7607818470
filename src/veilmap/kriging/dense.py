"""Universal kriging by a Cholesky factor of the whole covariance."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.spatial.distance import cdist

from veilmap.kriging.kernel import Kernel, Vector
from veilmap.kriging.observed import Observed

_BLOCK = 1 << 22  # covariances held at once


@dataclass(frozen=True)
class DenseKriging:
    """y = μ + f(x) + e with f ~ C, e ~ N(0, τ²/k) and μ constant and unknown.

    Chilès and Delfiner, Geostatistics, section 3.4; the constant by generalised least squares.
    """

    kernel: Kernel
    observed: Observed
    root: Vector  # L of C + τ²/k = L Lᵀ
    weights: Vector  # (C + τ²/k)⁻¹ (y − μ)
    ones: Vector  # L⁻¹ 1
    mean_db: float

    @classmethod
    def of(cls, kernel: Kernel, observed: Observed) -> "DenseKriging":
        """Solve for the weights of the places."""
        covariance = kernel.covariance(cdist(observed.xy_m, observed.xy_m))
        covariance[np.diag_indices_from(covariance)] += kernel.noise_db**2 / observed.k
        root = cholesky(covariance, lower=True, overwrite_a=True, check_finite=False)
        ones = solve_triangular(root, np.ones(len(observed)), lower=True)
        values = solve_triangular(root, observed.mean_db, lower=True)
        mean_db = float(ones @ values / (ones @ ones))
        weights = cho_solve((root, True), observed.mean_db - mean_db)
        return cls(kernel, observed, root, weights, ones, mean_db)

    def mean(self, xy_m: NDArray[np.float64]) -> Vector:
        """The mean at places."""
        found = np.empty(len(xy_m))
        for part in self._parts(len(xy_m)):
            across = self.kernel.covariance(cdist(self.observed.xy_m, xy_m[part]))
            found[part] = self.mean_db + self.weights @ across
        return found

    def predict(self, xy_m: NDArray[np.float64]) -> tuple[Vector, Vector]:
        """The mean at places, and the standard deviation of f there, μ's own included."""
        mean_db, std_db = np.empty(len(xy_m)), np.empty(len(xy_m))
        for part in self._parts(len(xy_m)):
            mean_db[part], std_db[part] = self._predict(xy_m[part])
        return mean_db, std_db

    def _parts(self, places: int) -> Iterator[slice]:
        """Of some places, as many at a time as memory allows."""
        step = max(_BLOCK // len(self.observed), 1)
        return (slice(start, start + step) for start in range(0, places, step))

    def _predict(self, xy_m: NDArray[np.float64]) -> tuple[Vector, Vector]:
        across = self.kernel.covariance(cdist(self.observed.xy_m, xy_m))
        mean_db = self.mean_db + self.weights @ across
        known = solve_triangular(
            self.root, across, lower=True, overwrite_b=True, check_finite=False
        )
        unexplained = self.kernel.std_db**2 - (known**2).sum(axis=0)
        of_mean = (1 - self.ones @ known) ** 2 / (self.ones @ self.ones)
        return mean_db, np.sqrt(np.maximum(unexplained, 0) + of_mean)
