"""Observed means for the tests of kriging."""

import numpy as np

from veilmap.kriging.kernel import Kernel
from veilmap.kriging.observed import Observed

KERNEL = Kernel(short_db=3.0, short_m=60.0, long_db=7.0, long_m=500.0, noise_db=2.0)


def make_observed(n=40, seed=0, extent_m=1000.0) -> Observed:
    """Signals drawn at places drawn, of 1 to 5 values each."""
    draw = np.random.default_rng(seed)
    return Observed(
        draw.uniform(0, extent_m, (n, 2)),
        draw.normal(-3, 6, n),
        draw.integers(1, 6, n).astype(float),
    )


def drawn_from(kernel: Kernel, n: int, seed=0, extent_m=1000.0) -> Observed:
    """Means as the model has them: y = 20 + f(x) + e."""
    draw = np.random.default_rng(seed)
    observed = make_observed(n, seed, extent_m)
    apart_m = np.linalg.norm(observed.xy_m[:, None] - observed.xy_m, axis=2)
    noise = np.diag(kernel.noise_db**2 / observed.k)
    root = np.linalg.cholesky(kernel.covariance(apart_m) + noise)
    return Observed(observed.xy_m, 20 + root @ draw.normal(size=n), observed.k)
