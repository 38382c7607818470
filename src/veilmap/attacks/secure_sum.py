"""What the server sees under secure aggregation: only the weighted sum of each round."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from veilmap.errors import UserError
from veilmap.federation.observation import Observation

SUM = "the sum of all users"


def secure_sum(observations: Iterable[Observation]) -> Iterator[Observation]:
    """One observation per round: w_t = Σ n_t^k/n_t w_t^k with n_t points.

    Attacks need no change: it looks like the update of one user who has everybody's points.
    """
    for _, of_round in groupby(observations, key=lambda each: each.round):
        n, total = 0, np.zeros(())
        for each in of_round:
            n += each.n
            total = total + each.n * each.weights_after.astype(np.float64)
        if n <= 0:
            raise UserError(f"round {each.round} has {n} points in all; a sum needs some")
        after = (total / n).astype(np.float32)
        yield Observation.of_weights(each.round, SUM, each.weights_before, after, n, each.start_s)
