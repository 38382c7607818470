"""Copies updates to a device in chunks that fit its memory, the next while one is attacked."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from veilmap.attacks.gradient_matching.matching import Objective
from veilmap.attacks.gradient_matching.objective import objective
from veilmap.attacks.leak import same_start, starting_weights
from veilmap.bounded_executor import map_bounded
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import free_bytes
from veilmap.model.network import Floats

# One on a CPU, so that intermediate results stay in the caches and bits depend on no other update;
# on a GPU enough to fill it.
MOST_UPDATES = {"cpu": 1, "cuda": 8192}
# GPU memory per weight of an update: as received, in both precisions, and working memory.
_BYTES_PER_WEIGHT = 60
# One thread copies more slowly than a GPU processes.
_COPYING_THREADS, _ROWS_AT_ONCE = 8, 32

Copy = Callable[[Sequence[Floats]], Tensor]


@dataclass(frozen=True)
class UpdatesOnDevice:
    """Some updates with their weights (updates, W) on the device.

    ``before`` is a single row if all of them started from the same weights.
    """

    observations: Sequence[Observation]
    before: Tensor
    after: Tensor

    def objective(self, header: Header) -> Objective:
        """For all of them, in float64 as ``leaked_gradient``."""
        before = self.before.double()
        return objective(header, before, before - self.after.double())


def transferred(
    observations: Sequence[Observation], device: torch.device
) -> Iterator[UpdatesOnDevice]:
    """All updates in order; in a chunk either all started from the same weights, or no two did."""
    if device.type == "cpu":
        for chunk in _chunks(observations, MOST_UPDATES["cpu"]):
            yield _transfer(chunk, lambda rows: torch.from_numpy(np.stack(rows)))
        return
    copy = _ToGpu(device)
    chunks = _chunks(observations, _chunk_size(observations, device))
    with ThreadPoolExecutor(1) as pool:
        yield from map_bounded(pool, lambda chunk: _transfer(chunk, copy), chunks, most=2)


def _chunk_size(observations: Sequence[Observation], device: torch.device) -> int:
    size = max((each.weights_after.size for each in observations[:1]), default=1)
    return max(min(MOST_UPDATES["cuda"], free_bytes(device) // (_BYTES_PER_WEIGHT * size)), 1)


def _chunks(observations: Sequence[Observation], most: int) -> Iterator[list[Observation]]:
    chunk: list[Observation] = []
    for each in observations:
        if len(chunk) == most or (
            len(chunk) > 1 and same_start(chunk[-1], each) != same_start(*chunk[:2])
        ):
            yield chunk
            chunk = []
        chunk.append(each)
    if chunk:
        yield chunk


def _transfer(chunk: Sequence[Observation], copy: Copy) -> UpdatesOnDevice:
    before, after = starting_weights(chunk), [each.weights_after for each in chunk]
    return UpdatesOnDevice(chunk, copy(before), copy(after))


class _ToGpu:
    """Copies vectors into the rows of a tensor while the GPU computes."""

    def __init__(self, device: torch.device) -> None:
        self._stream: Any = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        # Pinned memory is copied asynchronously. It is kept, because allocating it is slow.
        self._pinned = torch.empty(0, pin_memory=True)

    def __call__(self, vectors: Sequence[Floats]) -> Tensor:
        shape = len(vectors), vectors[0].size
        if self._pinned.numel() < shape[0] * shape[1]:
            self._pinned = torch.empty(shape[0] * shape[1], pin_memory=True)
        rows = self._pinned[: shape[0] * shape[1]].view(shape)

        def fill(first: int) -> None:
            part = slice(first, first + _ROWS_AT_ONCE)
            stack(vectors[part], rows[part].numpy())

        with ThreadPoolExecutor(_COPYING_THREADS) as pool:
            list(pool.map(fill, range(0, len(vectors), _ROWS_AT_ONCE)))
        with torch.cuda.stream(self._stream):
            there = rows.to(self._stream.device, non_blocking=True)
        self._stream.synchronize()
        return there


def stack(vectors: Sequence[Floats], out: Floats) -> None:
    """Copy vectors into rows; contiguous ones, as read from a file, in a single copy.

    Each copy releases and takes the GIL again, which delays the thread that feeds the GPU.
    """
    first = vectors[0]
    starts = range(_start(first), _start(first) + out.nbytes, first.nbytes)
    side_by_side = all(map(int.__eq__, map(_start, vectors), starts))
    if side_by_side and all(each.flags.c_contiguous for each in vectors):
        np.copyto(out, np.lib.stride_tricks.as_strided(first, out.shape, out.strides))
    else:
        np.stack(vectors, out=out)


def _start(vector: Floats) -> int:
    """Its address in memory."""
    start: int = vector.__array_interface__["data"][0]
    return start
