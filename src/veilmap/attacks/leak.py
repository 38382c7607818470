"""What the weights before and after an update give away."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.observation import Observation
from veilmap.model.network import Floats


def leaked_gradient(observation: Observation) -> NDArray[np.float64]:
    """∇w as the server computes it: w_{t-1} − w_t^k, in the direction of +∇ℓ.

    In float64, because the two float32 vectors nearly agree.
    """
    return observation.weights_before.astype(np.float64) - observation.weights_after


def starting_weights(observations: Sequence[Observation]) -> list[Floats]:
    """w_{t-1} of each update; a single one if all users started from the same weights."""
    shared = all(same_start(each, observations[0]) for each in observations)
    return [each.weights_before for each in observations[: 1 if shared else None]]


def same_start(one: Observation, other: Observation) -> bool:
    """Whether two users started from the same weights."""
    return one.weights_before is other.weights_before or np.array_equal(
        one.weights_before, other.weights_before
    )
