"""Read data, and report what was left out."""

from veilmap.cli.console import say
from veilmap.measurements import Measurements
from veilmap.sources.columns import Columns
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading
from veilmap.wording import counted

_NAMED_FILES = 3


def read_and_say(
    data: str, columns: Columns, reading: Reading, *, redact: bool = False
) -> Measurements:
    """Read the measurements; print which rows, by kind, and which files were left out.

    A file may be called after its user: with ``redact`` their number has to do.
    """
    measurements = read(data, columns, reading)
    for fault in measurements.dropped:
        say(f"dropped: {fault}")
    if measurements.left_out and redact:
        say(f"left out: {counted(len(measurements.left_out), 'file')}")
    elif measurements.left_out:
        say(f"left out: {left_out_text(measurements.left_out)}")
    return measurements


def left_out_text(left_out: tuple[tuple[str, str], ...], total: int | None = None) -> str:
    """How many files, and the first of them with the reason."""
    named = "; ".join(f"{file}: {reason}" for file, reason in left_out[:_NAMED_FILES])
    more = "; …" if len(left_out) > _NAMED_FILES else ""
    count = len(left_out)
    files = counted(count, "file") if total is None else f"{count:,} of {counted(total, 'file')}"
    return f"{files}: {named}{more}"
