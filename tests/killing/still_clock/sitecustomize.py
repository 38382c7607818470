"""A clock that stands still: how long things took is all that differs between two runs."""

import sys
import time

_TRUE = time.perf_counter


def _still() -> float:
    # The words at the end of a command divide by it, and no file has them.
    spoken = sys._getframe(1).f_globals["__name__"] == "veilmap.cli.timing"
    return _TRUE() if spoken else 0.0


time.perf_counter = _still
