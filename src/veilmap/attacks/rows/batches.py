"""As many updates at once as fit the memory."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import torch

from veilmap.federation.side_knowledge import Header
from veilmap.model.device import free_bytes

Result = TypeVar("Result")
Work = Callable[[range], list[Result]]

# The share of a GPU's free memory to fill, and about how many parts there are.
_FILLED, _PARTS = 0.5, 700


def in_batches(
    work: Work[Result], count: int, header: Header, device: torch.device
) -> Iterator[list[Result]]:
    """The results for ``count`` updates, batch by batch; ``work`` takes their numbers."""
    size = at_once(header, device)
    for start in range(0, count, size):
        yield _in_halves(work, range(start, min(start + size, count)))


def at_once(header: Header, device: torch.device) -> int:
    """How many updates fit the memory; on the CPU one, which stays in the caches."""
    if device.type == "cpu":
        return 1
    # Mostly pairs of parts: their matrix, and temporaries while it is made.
    numbers = 15 * _PARTS**2 + 3 * header.network.size
    return max(int(_FILLED * free_bytes(device) / (8 * numbers)), 1)


def _in_halves(work: Work[Result], some: range) -> list[Result]:
    """All at once, or in halves if they do not fit the memory."""
    try:
        return work(some)
    except torch.OutOfMemoryError:
        if len(some) == 1:
            raise
    # Outside the handler, because the error keeps tensors alive.
    middle = len(some) // 2
    return _in_halves(work, some[:middle]) + _in_halves(work, some[middle:])
