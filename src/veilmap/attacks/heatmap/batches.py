"""Which updates are fitted together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from veilmap.attacks.heatmap.heatmap import LinearisationName
from veilmap.attacks.heatmap.linearisation import PATH_NODES
from veilmap.attacks.leak import same_start
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import free_bytes

# At least so many users of a round form a batch of their own: one set of kernels serves them all.
MANY_USERS = 32
# The share of the GPU's free memory that a batch may fill. The estimate below is typical, not an
# upper bound: a batch that does not fit is halved.
_SHARE = 0.8
_BYTES = 8  # of a float64
# Typical numbers of candidates of a refinement, and of active columns.
_FINER, _ACTIVE = 400, 160


@dataclass(frozen=True)
class Capacity:
    """How many updates fit at once: users who started from the same weights, and any others."""

    shared: int
    own: int

    @classmethod
    def on(
        cls,
        device: torch.device,
        header: Header,
        squares: int,
        linearisations: Sequence[LinearisationName],
    ) -> "Capacity":
        """Most of the GPU's free memory; on the CPU one update, which stays in the caches."""
        if device.type == "cpu":
            return cls(1, 1)
        bound = int(_SHARE * free_bytes(device))
        others = [name for name in linearisations if name != "before"]
        return cls(
            max(bound // _bytes_each(header, squares, others), 1),
            max(bound // _bytes_each(header, squares, linearisations), 1),
        )


def _bytes_each(header: Header, squares: int, own: Sequence[LinearisationName]) -> int:
    """For an update with its own kernels over the first grid in these linearisations.

    The kernels and three more as temporaries; h, δ and their products; the rows of active columns;
    the update and copies of it along the path.
    """
    units = sum(header.network.hidden)
    nodes = PATH_NODES if "path" in own else 1
    kernels = (2 * len(own) + 3) * squares**2 if own else 0
    finer = 5 * _FINER**2
    factors = 6 * nodes * max(squares if own else 0, _FINER) * units
    numbers = kernels + finer + factors + 2 * _ACTIVE * squares + 8 * header.network.size
    return _BYTES * numbers


def batches(observations: Sequence[Observation], capacity: Capacity) -> Iterator[list[int]]:
    """The numbers of the observations in each batch.

    Many users who started from the same weights form batches of their own; the others are batched
    across rounds.
    """
    count, others = len(observations), list[int]()
    changes = [i for i in range(1, count) if not same_start(*observations[i - 1 : i + 1])]
    for first, end in pairwise([0, *changes, count]):
        run = list(range(first, end))  # all started from the same weights
        if len(run) < min(MANY_USERS, capacity.shared):
            others += run
        else:
            yield from _cut(run, capacity.shared)
    yield from _cut(others, capacity.own)


def _cut(numbers: list[int], most: int) -> Iterator[list[int]]:
    yield from (numbers[start : start + most] for start in range(0, len(numbers), most))
