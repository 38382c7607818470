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
    """On Ctrl-C, remove the bar, print ``stopped``, and exit with code 130."""
    try:
        yield
    except KeyboardInterrupt:
        # Ignore further Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        bar.stop()
        stderr.print(stopped(), soft_wrap=True)
        sys.exit(INTERRUPTED)
