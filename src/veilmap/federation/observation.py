"""What an honest-but-curious server sees of one user in one round."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Observation:
    """User k came to round t with w_{t-1} and left with w_t^k, trained on n_t^k points."""

    round: int
    user: str
    weights_before: NDArray[np.float32]
    weights_after: NDArray[np.float32]
    n: int
    start_s: float
