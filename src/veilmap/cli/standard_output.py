"""Standard output whose failed writes are errors: behind ``>`` a disk may be full."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, TextIO, cast

from veilmap.errors import cannot_write


@contextmanager
def checked_output() -> Iterator[None]:
    """Turn a failed write to standard output into an error that names it.

    Exit with code 1 and no message if the reader, such as ``| head``, has ended.
    """
    if not sys.stdout:  # closed by whoever started the process
        yield
        return
    with redirect_stdout(cast(TextIO, _Checked(sys.stdout))):
        yield
        sys.stdout.flush()  # here, because an error at Python's exit is a traceback


def give_up(stream: TextIO) -> None:
    """Discard what is left in a stream: Python flushes at its exit, and would fail again."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Checked:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with self._checked():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._checked():
            self._stream.flush()

    @contextmanager
    def _checked(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            give_up(self._stream)
            if isinstance(error, BrokenPipeError):
                sys.exit(1)
            raise cannot_write("standard output", error, "redirect it elsewhere") from error
