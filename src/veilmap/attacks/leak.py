"""What an update gives away to whoever has the weights before and after it."""

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.observation import Observation


def leaked_gradient(observation: Observation) -> NDArray[np.float64]:
    """∇w as the server reads it off the update: w_{t-1} − w_t^k, in the direction of +∇ℓ.

    In float64, because the two float32 vectors nearly agree.
    """
    gradient: NDArray[np.float64] = observation.weights_before.astype(
        np.float64
    ) - observation.weights_after.astype(np.float64)
    return gradient
