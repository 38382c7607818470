"""The duration of many runs, and the number of busy cores."""

import time
from datetime import timedelta

from veilmap.wording import counted


class RunTimer:
    """Counts the runs of a command; every run keeps one core busy."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._runs, self._seconds = 0, 0.0

    def add(self, seconds: float) -> None:
        """Count one more run and its duration."""
        self._runs += 1
        self._seconds += seconds

    def words(self) -> str | None:
        """``27 runs in 0:01:02, 1.7 cores busy``; None if all were cached."""
        if not self._runs:
            return None
        elapsed_s = time.perf_counter() - self._began
        elapsed = timedelta(seconds=round(elapsed_s))
        cores = f"{self._seconds / elapsed_s:.1f}"
        return f"{counted(self._runs, 'run')} in {elapsed}, {cores} cores busy"
