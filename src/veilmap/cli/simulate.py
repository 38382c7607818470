"""``veilmap simulate``, one command per world."""

from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from veilmap.cli.console import progress, say
from veilmap.errors import UserError
from veilmap.files import refuse_taken
from veilmap.measurements import Measurements
from veilmap.sources import campus, london
from veilmap.sources.campus import Campus
from veilmap.sources.radiocells_xml import ZIP, write_upload_files
from veilmap.wording import counted

PARQUET = ".parquet"
CampusOptions = Annotated[Campus, Parameter(name="*", group=Group("The world"))]


def campus_(
    *, seed: int = 0, out: Path, overwrite: bool = False, world: CampusOptions = Campus()
) -> None:
    """Write the measurements of people on a campus to a Parquet file.

    Args:
        seed: the same seed gives the same measurements.
        out: the file to write, ending in .parquet; any command of veilmap reads it.
        overwrite: replace an existing file.
    """
    refuse_taken(out, overwrite)
    if out.suffix != PARQUET:
        raise UserError(f"simulate campus writes Parquet; name the file {out.with_suffix(PARQUET)}")
    with progress() as bar:
        people = partial(bar.track, total=world.users, description="people")
        measurements = campus.simulate(seed, world, people)
    _write(measurements, out)


def london_(*, seed: int = 0, out: Path, overwrite: bool = False) -> None:
    """Write the measurements around London, as synthetic users or as upload files.

    Args:
        seed: the same seed gives the same measurements.
        out: synthetic users to a file ending in .parquet, which any command of veilmap reads; or
            the raw upload files (Radiocells XML) into a .zip or, where the name has no ending,
            into a new folder.
        overwrite: replace an existing file; folders are never replaced.
    """
    refuse_taken(out, overwrite)
    if out.suffix == PARQUET:
        _write(london.simulate(seed), out)
    elif out.suffix in (ZIP, ""):
        rows = london.uploads(seed)
        files = write_upload_files(rows, out, timezone=london.TIMEZONE)
        say(
            f"wrote {out}: {counted(files, 'upload file')} with "
            f"{counted(rows.height, 'measurement')} of {counted(rows['cell'].n_unique(), 'cell')}, "
            f"times in {london.TIMEZONE}"
        )
    else:
        raise UserError(
            "simulate london writes Parquet, or upload files to a .zip or a folder; name the file "
            f"{out.with_suffix(PARQUET)}"
        )


def _write(measurements: Measurements, out: Path) -> None:
    measurements.write_parquet(out)
    say(
        f"wrote {out}: {counted(len(measurements), 'measurement')} of "
        f"{counted(len(measurements.users), 'user')} in {counted(len(measurements.cells), 'cell')}"
    )
