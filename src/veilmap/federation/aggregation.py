"""Line 12 of Algorithm 1: what the server makes of a round's updates."""

from typing import Literal, get_args

import numpy as np

from veilmap.federation.robust import Gathered
from veilmap.model.network import Floats

AggregationName = Literal["mean", "median", "trimmed"]
AGGREGATIONS: tuple[AggregationName, ...] = get_args(AggregationName)


class Average:
    """The weighted average: w_t = Σ n_t^k/n_t w_t^k; w_{t-1} if no user sends."""

    def __init__(self, weights_before: Floats) -> None:
        self._before = weights_before
        # In float64, so that the average of equal updates is that update to the last bit.
        self._total = np.zeros(len(weights_before))
        self.n: dict[str, int] = {}

    def add(self, user: str, weights: Floats, n: int) -> None:
        """w_t^k, trained on n_t^k points."""
        self.n[user] = n
        self._total += n * weights.astype(np.float64)

    def weights(self) -> Floats:
        """w_t."""
        if not self.n:
            return self._before
        return (self._total / sum(self.n.values())).astype(np.float32)


# Takes a round's updates one at a time; ``n`` are the points of those taken, by user.
Aggregation = Average | Gathered
