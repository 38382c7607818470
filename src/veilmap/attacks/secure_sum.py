"""What the server sees under secure aggregation: the weighted sum of a round, and nobody's part."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from veilmap.federation.observation import Observation

SUM = "sum of all users"


def secure_sum(observations: Iterable[Observation]) -> Iterator[Observation]:
    """One observation per round: w_t = Σ n_t^k/n_t w_t^k with n_t points.

    All attacks work on it unchanged: it is the update of one user who has everybody's points.
    """
    for _, of_round in groupby(observations, key=lambda each: each.round):
        everybody = list(of_round)
        n = sum(each.n for each in everybody)
        total = np.zeros(len(everybody[0].weights_after))
        for each in everybody:
            total += each.n / n * each.weights_after.astype(np.float64)
        first = everybody[0]
        after = total.astype(np.float32)
        yield Observation(first.round, SUM, first.weights_before, after, n, first.start_s)
