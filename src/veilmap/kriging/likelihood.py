"""The kernel that makes the observed means most likely."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from veilmap.kriging.kernel import Kernel, Vector
from veilmap.kriging.observed import Observed
from veilmap.streams import stream

MOST_FITTED = 600  # the likelihood is computed on; its cost grows with their cube
_ITERATIONS = 40
# The constant mean is integrated out under a normal prior this wide, in dB.
_MEAN_STD_DB = 30.0
# Standard deviations of the prior on the logarithms: weak, it says no more than the order of
# magnitude, and of the long range and the noise a little more.
_PRIOR_STD = np.array([1.5, 1.5, 1.5, 1.0, 1.0])
_IMPOSSIBLE = 1e10


def fitted_kernel(observed: Observed) -> Kernel:
    """The maximum of marginal likelihood times prior, by L-BFGS-B in the logarithms.

    The likelihood is that of at most 600 places drawn at random (Rasmussen and Williams, Gaussian
    Processes for Machine Learning, eq. 5.8 and 5.9).
    """
    if len(observed) > MOST_FITTED:
        draw = stream(0, "marginal likelihood")
        observed = observed.take(np.sort(draw.permutation(len(observed))[:MOST_FITTED]))
    prior = _Prior.of(observed)
    likelihood = _Likelihood.of(observed)

    def minus_log(logs: Vector) -> tuple[float, Vector]:
        value, slope = likelihood.minus_log(logs)
        return value + prior.minus_log(logs), slope + prior.slope(logs)

    found = minimize(
        minus_log,
        prior.mode,
        jac=True,
        method="L-BFGS-B",
        bounds=np.column_stack([prior.low, prior.high]),
        options={"maxiter": _ITERATIONS},
    )
    return Kernel.of_logs(found.x)


@dataclass(frozen=True)
class _Prior:
    """Normal in the logarithms around what the extent and the spread suggest, and bounded."""

    mode: Vector
    low: Vector
    high: Vector

    @classmethod
    def of(cls, observed: Observed) -> "_Prior":
        extent_m = observed.extent_m + 1
        spread_db = float(observed.mean_db.std()) + 1e-3
        low = np.log([0.05, 5, 0.05, extent_m / 10, 0.3])
        high = np.log([40, max(extent_m / 3, 5), 60, extent_m * 5, 20])
        mode = np.log(
            [
                0.6 * spread_db,
                max(extent_m / 40, 20),
                0.8 * spread_db,
                extent_m / 4,
                0.5 * spread_db,
            ]
        )
        return cls(np.clip(mode, low, high), low, high)

    def minus_log(self, logs: Vector) -> float:
        return float(0.5 * (((logs - self.mode) / _PRIOR_STD) ** 2).sum())

    def slope(self, logs: Vector) -> Vector:
        slope: Vector = (logs - self.mode) / _PRIOR_STD**2
        return slope


@dataclass(frozen=True)
class _Likelihood:
    """N(y; 0, C + τ²/k + 30²·11ᵀ), y the deviations from the weighted mean."""

    distance_m: Vector
    y_db: Vector
    k: Vector

    @classmethod
    def of(cls, observed: Observed) -> "_Likelihood":
        y_db = observed.mean_db - np.average(observed.mean_db, weights=observed.k)
        return cls(cdist(observed.xy_m, observed.xy_m), y_db, observed.k)

    def minus_log(self, logs: Vector) -> tuple[float, Vector]:
        """The value and its slope along each logarithm."""
        kernel, distance_m = Kernel.of_logs(logs), self.distance_m
        short = kernel.short_db**2 * np.exp(distance_m * (-1 / kernel.short_m))
        long = kernel.long_db**2 * np.exp(distance_m * (-1 / kernel.long_m))
        noise = kernel.noise_db**2 / self.k
        covariance = short + long + _MEAN_STD_DB**2
        covariance[np.diag_indices_from(covariance)] += noise
        try:
            factor, _ = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return _IMPOSSIBLE, np.zeros_like(logs)
        log_root = float(np.log(np.diag(factor)).sum())
        inverse = _symmetric(dpotri(factor, lower=True, overwrite_c=True)[0])
        weights = inverse @ self.y_db
        value = 0.5 * float(self.y_db @ weights) + log_root
        # d(minus log)/dθ = ½ tr((C⁻¹ − wwᵀ) dC/dθ)
        outer = inverse - np.outer(weights, weights)
        short *= outer
        long *= outer
        slope = [
            short.sum(),
            0.5 * float(np.vdot(short, distance_m)) / kernel.short_m,
            long.sum(),
            0.5 * float(np.vdot(long, distance_m)) / kernel.long_m,
            float(np.diag(outer) @ noise),
        ]
        return value, np.array(slope)


def _symmetric(lower: Vector) -> Vector:
    """The whole of a symmetric matrix of which LAPACK made the lower half."""
    found: Vector = np.tril(lower) + np.tril(lower, -1).T
    return found
