"""What a step costs the phone: time and memory."""

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

BYTES_PER_MB = 1e6


@dataclass
class Cost:
    """Filled when the measured block ends."""

    seconds: float = 0.0
    peak_mb: float = 0.0


@contextmanager
def measured() -> Iterator[Cost]:
    """The seconds that the block takes, and the most memory it holds at a time beyond before.

    Memory is what Python and numpy allocate; torch's own is not seen. Watching it slows the
    block down by a few per cent, which the seconds include.
    """
    cost, watched = Cost(), tracemalloc.is_tracing()
    if not watched:
        tracemalloc.start()
    tracemalloc.reset_peak()
    held, began = tracemalloc.get_traced_memory()[0], time.perf_counter()
    try:
        yield cost
    finally:
        cost.seconds = time.perf_counter() - began
        cost.peak_mb = (tracemalloc.get_traced_memory()[1] - held) / BYTES_PER_MB
        if not watched:
            tracemalloc.stop()
