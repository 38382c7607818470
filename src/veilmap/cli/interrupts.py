"""Ctrl-C in long commands: say what is kept, and end."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress

from veilmap.cli.console import stderr

INTERRUPTED = 130


@contextmanager
def say_what_is_kept(bar: Progress, stopped: Callable[[], str]) -> Iterator[None]:
    """At an interrupt the bar goes, ``stopped`` is printed, and the command ends with 130."""
    try:
        yield
    except KeyboardInterrupt:
        # Who presses Ctrl-C again before the end has nothing more to stop.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        bar.stop()
        stderr.print(stopped(), soft_wrap=True)
        sys.exit(INTERRUPTED)
