"""Which updates a heat map is made of together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from veilmap.attacks.heatmap.heatmap import LinearisationName
from veilmap.attacks.heatmap.linearisation import PATH_NODES
from veilmap.attacks.heatmap.updates import same_start
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import free_bytes

# So many users of a round, or more, are a batch of their own: one set of kernels serves them all.
MANY_USERS = 32
# The share of the GPU's free memory that a batch may fill. What is reckoned with below is usual,
# not the most: a batch that does not fit after all is halved.
_SHARE = 0.8
_BYTES = 8  # of a float64
# The candidates of a finer level, and the active columns.
_FINER, _ACTIVE = 400, 160


@dataclass(frozen=True)
class Room:
    """How many updates fit at once: users who began from the same weights, and any others."""

    shared: int
    own: int

    @classmethod
    def on(
        cls,
        device: torch.device,
        header: Header,
        cells: int,
        linearisations: Sequence[LinearisationName],
    ) -> "Room":
        """Most of the GPU's free memory; on the CPU one update, whose numbers stay near."""
        if device.type == "cpu":
            return cls(1, 1)
        bound = int(_SHARE * free_bytes(device))
        others = [name for name in linearisations if name != "before"]
        return cls(
            max(bound // _bytes_each(header, cells, others), 1),
            max(bound // _bytes_each(header, cells, linearisations), 1),
        )


def _bytes_each(header: Header, cells: int, own: Sequence[LinearisationName]) -> int:
    """Of an update with kernels of its own over the first grid in these linearisations.

    The kernels and three as large while they are made; h and δ with what is made of them; the rows
    of active columns; the update and as much while it is walked.
    """
    units = sum(header.network.hidden)
    nodes = PATH_NODES if "path" in own else 1
    kernels = (2 * len(own) + 3) * cells**2 if own else 0
    finer = 5 * _FINER**2
    factors = 6 * nodes * max(cells if own else 0, _FINER) * units
    numbers = kernels + finer + factors + 2 * _ACTIVE * cells + 8 * header.network.size
    return _BYTES * numbers


def batches(observations: Sequence[Observation], room: Room) -> Iterator[list[int]]:
    """The numbers of the observations.

    Many users who began from the same weights stay among themselves; others come together from
    different rounds.
    """
    others: list[int] = []
    for run in _runs(observations):
        if len(run) < min(MANY_USERS, room.shared):
            others += run
        else:
            yield from _cut(run, room.shared)
    yield from _cut(others, room.own)


def _cut(numbers: list[int], most: int) -> Iterator[list[int]]:
    yield from (numbers[start : start + most] for start in range(0, len(numbers), most))


def _runs(observations: Sequence[Observation]) -> Iterator[list[int]]:
    """Neighbours who began from the same weights."""
    run: list[int] = []
    for number, each in enumerate(observations):
        if run and not same_start(observations[run[-1]], each):
            yield run
            run = []
        run.append(number)
    if run:
        yield run
