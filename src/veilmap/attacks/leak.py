"""What the weights before and after an update give away."""

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.observation import Observation


def leaked_gradient(observation: Observation) -> NDArray[np.float64]:
    """∇w as the server computes it: w_{t-1} − w_t^k, in the direction of +∇ℓ.

    In float64, because the two float32 vectors nearly agree.
    """
    gradient: NDArray[np.float64] = observation.weights_before.astype(
        np.float64
    ) - observation.weights_after.astype(np.float64)
    return gradient


def same_start(one: Observation, other: Observation) -> bool:
    """Whether two users started from the same weights."""
    return one.weights_before is other.weights_before or np.array_equal(
        one.weights_before, other.weights_before
    )
