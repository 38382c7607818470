"""The one property: a bad file is read, or refused in a sentence, soon and in little memory."""

import faulthandler
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from veilmap.errors import UserError

# Of the processor's time, which a loaded machine does not lengthen.
LIMIT_S = 5.0
# What waits, or a library that does not come back to Python, is no prey for a signal; then the
# process ends, with the place.
ABANDON_S = 300.0
LIMIT_MB = 400.0
LONGEST = 3000

_COMMON = {
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
}
settings.register_profile("fuzz quick", max_examples=200, derandomize=True, **_COMMON)
settings.register_profile("fuzz long", max_examples=20_000, print_blob=True, **_COMMON)
FORM = settings.get_profile(f"fuzz {os.environ.get('VEILMAP_FUZZ', 'quick')}")

# What the user can do: a verb after the fault, or the demand that the value does not meet.
WAY_OUT = re.compile(
    r"[;:,(] (?:\w+ ){0,6}?(add|allow|check|choose|convert|copy|drop|fetch|fix|give|keep|leave|"
    r"loosen|lower|make|map|mend|name|pack|put|read|remove|rename|restore|run|save|separate|take|"
    r"train|unpack|write)\b|\bdid you mean\b|\bit has: |\bmust (be|have|end|not)\b|\bshould\b|"
    r"\bneeds? one\b"
)


def read_or_refuse(read: Callable[[Path], object], path: Path) -> None:
    """Read the file; the only error that may escape is ours, and it names the file and a cure."""
    try:
        with limited():
            read(path)
    except UserError as error:
        check(str(error), path.name)


def check(message: str, name: str) -> None:
    """That a message names the file and a way out, and is no wall of text."""
    assert name in message, message
    assert WAY_OUT.search(message), message
    assert len(message) <= LONGEST, f"{len(message):,} characters: {message[:200]}"


@contextmanager
def limited() -> Iterator[None]:
    """Fail if the block takes too long or too much memory."""
    before_mb = _peak_mb()
    earlier = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    faulthandler.dump_traceback_later(ABANDON_S, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)
        faulthandler.cancel_dump_traceback_later()
    grown_mb = _peak_mb() - before_mb
    assert grown_mb < LIMIT_MB, f"{grown_mb:,.0f} MB for one small file"


def _too_long(*_: object) -> None:
    # No Exception, which a reader might take for its own; TimeoutError is even an OSError.
    pytest.fail(f"not done within {LIMIT_S:g} s of the processor's time")


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
