"""Run jobs on threads, a bounded number of them ahead of the consumer."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")


def map_bounded(
    pool: Executor, work: Callable[[Job], Result], jobs: Iterable[Job], most: int
) -> Iterator[Result]:
    """Yield results in the order of the jobs; at most ``most`` are running or waiting."""
    running: deque[Future[Result]] = deque()
    try:
        for job in jobs:
            running.append(pool.submit(work, job))
            if len(running) == most:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()
