"""Noise on the plane with density ε²/2π · e^{−εr} (Andrés et al. 2013, § 4.1)."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv


def draw_m(n: int, epsilon_per_m: float, generator: np.random.Generator) -> NDArray[np.float64]:
    """Displacements in metres, one row each: a radius by the inverse CDF, in any direction."""
    # One row of numbers per displacement: the first few stay the same if more are drawn.
    share, turn = generator.random((n, 2)).T
    angle = 2 * np.pi * turn
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    moved_m: NDArray[np.float64] = radius_m(share, epsilon_per_m)[:, None] * direction
    return moved_m


def radius_m(share: NDArray[np.float64], epsilon_per_m: float) -> NDArray[np.float64]:
    """C_ε^{-1}(p), where C_ε(r) = 1 − (1 + εr) e^{−εr}: the radius within which a share p falls.

    Andrés et al. write it −(W_{-1}((p − 1)/e) + 1)/ε. εr has the gamma distribution of shape 2,
    and its inverse is the same function: it is 0 at p = 0, where scipy's W_{-1} is NaN, and keeps
    all digits near it.
    """
    radius: NDArray[np.float64] = gammaincinv(2, share) / epsilon_per_m
    return radius
