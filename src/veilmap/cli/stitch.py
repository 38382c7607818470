"""``veilmap stitch``."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from veilmap.cli.console import say, stdout, table
from veilmap.cli.data import left_out_text
from veilmap.cli.file_options import ReadingOptions
from veilmap.errors import UserError
from veilmap.files import refuse_taken
from veilmap.measurements import Measurements
from veilmap.sources import radiocells
from veilmap.sources.reader import scan
from veilmap.sources.reading import Reading
from veilmap.sources.scan import Scan, readable
from veilmap.sources.stitch import Stitched, Stitching, stitch
from veilmap.sources.table_formats import TOWER_COLLECTOR
from veilmap.wording import counted

TABLES = ("CSV", "Parquet")
RADIOCELLS = radiocells.FORMAT.name
WITH_DEVICE = (RADIOCELLS, TOWER_COLLECTOR.name)


def stitch_(
    path: Path,
    *,
    out: Path,
    overwrite: bool = False,
    cell: str | None = None,
    stitching: Annotated[Stitching, Parameter(name="*")] = Stitching(),
    reading: ReadingOptions = Reading(),
) -> None:
    """Make synthetic users from anonymous upload files.

    Two files belong to one user if cell and device agree, their starts are near each other, and so
    are their ends. Files of users who are not kept become user 0.

    Args:
        path: folder or archive of upload files.
        out: the Parquet file to write; any command of veilmap reads it.
        overwrite: replace an existing file.
        cell: the cell; "all" for every cell, by default the one with the most measurements.
    """
    if out.suffix != ".parquet":
        raise UserError(f"stitch writes Parquet; name the file {out.with_suffix('.parquet')}")
    refuse_taken(out, overwrite)
    scanned = scan(path, reading=reading)
    _refuse_tables(scanned, path.name)
    with readable(path.name):
        rows = scanned.table.collect(engine="streaming")
        passed_over = scanned.count_passed_over()
    stitched = stitch(
        rows, stitching, cell=cell, source=path.name, drop_invalid=reading.drop_invalid
    )
    # Two devices of the background may agree in a row; as rows of one user they are duplicates.
    measurements = Measurements.of(
        stitched.table,
        timezone=scanned.timezone,
        timezone_by=scanned.timezone_by,
        source=path.name,
        drop_invalid=True,
    )
    measurements.write_parquet(out)
    _tell_missing(scanned, reading)
    if scanned.left_out:
        say(f"left out {left_out_text(scanned.left_out)}")
    _show(replace(stitched, dropped=(*passed_over, *stitched.dropped, *measurements.dropped)))
    say(
        f"\nwrote {out}: {counted(len(measurements), 'measurement')} of "
        f"{counted(len(measurements.users), 'user')}"
    )


def _refuse_tables(scanned: Scan, source: str) -> None:
    """Refuse tables of measurements, which have users and no upload files."""
    tables = [name for name in scanned.formats if name in TABLES]
    if tables:
        raise UserError(
            f"{source} holds {' and '.join(tables)} files, which are not upload files; give those "
            "alone, in a folder or an archive"
        )


def _tell_missing(scanned: Scan, reading: Reading) -> None:
    for name in scanned.formats:
        if name not in WITH_DEVICE:
            say(
                f"{name} files have no device information: "
                "users are distinguished by cell and places alone"
            )
    if RADIOCELLS in scanned.formats and reading.timezone is None:
        say("times of Radiocells files are local and were read as UTC; give --timezone")


def _show(stitched: Stitched) -> None:
    say(
        f"{counted(stitched.files, 'upload file')}, {counted(stitched.candidates, 'candidate')}, "
        f"{len(stitched.users)} kept, {counted(stitched.background_files, 'file')} in background "
        "user 0"
    )
    for fault in stitched.dropped:
        say(f"left out {fault}")
    users = table(None, "user", "cell", "files", "weeks", "measurements", "per week", left=2)
    for user in stitched.users:
        counts = (f"{count:,}" for count in (user.files, user.weeks, user.rows))
        users.add_row(user.name, user.cell, *counts, f"{user.rows / user.weeks:.1f}")
    if stitched.users:
        stdout.print(users)
    else:
        say("no candidate is kept; lower --min-weeks or --min-per-week, or raise --distance")
