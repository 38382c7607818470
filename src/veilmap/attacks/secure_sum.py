"""What the server sees under secure aggregation: only the weighted sum of each round."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.federation.map_family import WEIGHTS, Additive
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header

SUM = "the sum of all users"


def secure_sum(header: Header, observations: Iterable[Observation]) -> Iterator[Observation]:
    """One observation per round: w_t = Σ n_t^k/n_t w_t^k with n_t points; or the sum of messages.

    Attacks need no change: it looks like the update of one user who has all users' points.

    Raises:
        UserError: messages are not weights; only a map knows how what else it sends adds up.
    """
    for _, of_round in groupby(observations, key=lambda each: each.round):
        if isinstance(header.map, Additive):
            yield _added(header.map, header.side_knowledge.area, list(of_round))
        else:
            yield _mean(of_round)


def _added(family: Additive, area: Area, observations: Sequence[Observation]) -> Observation:
    message = family.added(area, [each.message for each in observations])
    n = sum(each.n for each in observations)
    return replace(observations[0], user=SUM, message=message, n=n)


def _mean(observations: Iterable[Observation]) -> Observation:
    n, total = 0, np.zeros(())
    for each in observations:
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
    return Observation.of_weights(each.round, SUM, each.weights_before, after, n, each.start_s)
