"""What the server sees under secure aggregation: only the weighted sum of each round."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from veilmap.errors import UserError
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.observation import Observation

SUM = "the sum of all users"


def secure_sum(observations: Iterable[Observation]) -> Iterator[Observation]:
    """One observation per round: w_t = Σ n_t^k/n_t w_t^k with n_t points.

    Attacks need no change: it looks like the update of one user who has all users' points.

    Raises:
        UserError: messages are not weights; only a map knows how what else it sends adds up.
    """
    for _, of_round in groupby(observations, key=lambda each: each.round):
        n, total = 0, np.zeros(())
        for each in of_round:
            if set(each.message) != {WEIGHTS}:
                raise UserError(
                    "secure sums are simulated for maps that send weights alone, got messages of "
                    f"{', '.join(each.message)}; leave out --secure-aggregation"
                )
            n += each.n
            total = total + each.n * each.weights_after.astype(np.float64)
        if n <= 0:
            raise UserError(f"round {each.round} has no points; leave that round out")
        after = (total / n).astype(np.float32)
        yield Observation.of_weights(each.round, SUM, each.weights_before, after, n, each.start_s)
