"""What a step costs the phone: time and memory."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

BYTES_PER_MB = 1e6
T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """The seconds of some work, and the most memory it held beyond what was held before."""

    seconds: float
    peak_mb: float


def measured(work: Callable[[], T]) -> tuple[T, Cost]:
    """The result of the work and its cost.

    It is done twice, since watching memory slows small work down several times; so it must do the
    same both times, as steps do. Memory is what Python and numpy allocate; torch's is not seen.
    """
    began = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - began
    return result, Cost(seconds, _peak_mb(work))


def _peak_mb(work: Callable[[], object]) -> float:
    watched = tracemalloc.is_tracing()
    if not watched:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        held = tracemalloc.get_traced_memory()[0]
        work()
        return (tracemalloc.get_traced_memory()[1] - held) / BYTES_PER_MB
    finally:
        if not watched:
            tracemalloc.stop()
