"""``veilmap inspect``."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from zoneinfo import ZoneInfo

from veilmap.cli.console import print_table, say
from veilmap.cli.data import left_out_text
from veilmap.cli.file_options import FileOptions
from veilmap.errors import UserError
from veilmap.inspection import Inspection, inspect
from veilmap.inspection.labels import labels
from veilmap.measurements import clock_text
from veilmap.sources.reader import is_world, read
from veilmap.sources.reading import Reading
from veilmap.wording import counted

_NAMED_USERS = 12  # as many as the pictures show


def inspect_(
    file: str,
    *,
    config: Path | None = None,
    plot: Path | None = None,
    source: FileOptions = FileOptions(),
) -> None:
    """Show what is in a measurement file; invalid rows are counted, not an error.

    Args:
        file: a measurement file of any known format, or a folder, zip or tar of them.
        config: settings file (TOML); options on the command line override it.
        plot: a folder for pictures: a map, the users, the largest cells, similar users.
    """
    if plot is not None and plot.exists() and not plot.is_dir():
        raise UserError(f"{plot} is a file; name a folder for the pictures")
    _show(inspect(file, source.columns, source.reading), source.reading)
    if plot is not None:
        _draw(file, source, plot)


def _draw(file: str, source: FileOptions, folder: Path) -> None:
    # Matplotlib is slow to load and needed only here.
    from veilmap.inspection.pictures import write_pictures

    measurements = read(file, source.columns, replace(source.reading, drop_invalid=True))
    say("")
    for path in write_pictures(measurements, folder):
        say(f"wrote {path}")
    for user, label in list(labels(measurements.users).items())[:_NAMED_USERS]:
        if label != user:
            say(f"in the pictures, user {label} is {user}")
    if not is_world(file):
        say("these pictures show where people were; protect them like the data")


def _show(found: Inspection, reading: Reading) -> None:
    print_table((*_of_files(found), *_of_rows(found)), "", "", left=2)
    if found.faults and not reading.drop_invalid:
        say("\ndrop the invalid rows with --drop-invalid")
    say(
        f"\ndensest: user {found.densest_user} in cell {found.densest_cell}, "
        f"{counted(found.densest_rows, 'measurement')}"
    )
    rounds = [
        (each.interval, f"{each.rounds:,}", f"{each.points_per_round:,.0f}")
        for each in found.rounds
    ]
    print_table(rounds, "T", "rounds", "points per round")


def _of_files(found: Inspection) -> Iterator[tuple[str, str]]:
    yield "file", found.source
    if found.formats:
        yield "format", "; ".join(_format(*each) for each in found.formats.items())
    if found.left_out:
        total = len(found.left_out) + sum(found.formats.values())
        yield "left out", left_out_text(found.left_out, total)
    if found.columns:
        yield "columns", found.columns


def _of_rows(found: Inspection) -> Iterator[tuple[str, str]]:
    yield "rows", f"{found.rows:,}"
    for index, passed_over in enumerate(found.passed_over):
        yield "passed over" if index == 0 else "", str(passed_over)
    yield "users", f"{found.users:,}"
    yield "cells", f"{found.cells:,}"
    zone = ZoneInfo(found.timezone)
    times = (f"{each.astimezone(zone):%Y-%m-%d %H:%M}" for each in (found.first, found.last))
    yield "time", f"{' to '.join(times)}, {clock_text(found.timezone, found.timezone_by)}"
    yield "extent", "{:,.2f} km east-west, {:,.2f} km north-south".format(*found.extent_km)
    yield "signal", f"mean {found.mean_dbm:.1f} dBm, standard deviation {found.std_dbm:.1f} dB"
    yield "accuracy", f"unknown in {counted(found.unknown_accuracy, 'row')}"
    yield "invalid", "" if found.faults else "none"
    for fault in found.faults:
        yield "", str(fault)


def _format(name: str, files: int) -> str:
    return name if files == 1 else f"{name}, {counted(files, 'file')}"
