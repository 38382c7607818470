"""``veilmap simulate``."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import polars as pl

from veilmap.cli.console import say
from veilmap.errors import UserError
from veilmap.sources import london
from veilmap.sources.radiocells_xml import ZIP, write_upload_files
from veilmap.sources.reader import WORLDS

# World → the rows of its upload files, from a seed, and their clock.
UPLOADS: dict[str, tuple[Callable[[int], pl.DataFrame], str]] = {
    "london": (london.uploads, london.TIMEZONE)
}


def simulate_(world: Literal["campus", "london"] = "campus", *, seed: int = 0, out: Path) -> None:
    """Write the measurements of a simulated world.

    Args:
        world: which one.
        seed: the same seed gives the same measurements.
        out: a file ending in .parquet, which any command of veilmap reads; london also writes its
            raw upload files, into a .zip or, where the name has no ending, into a new folder.
    """
    if out.suffix == ".parquet":
        _write_measurements(world, seed, out)
    elif world in UPLOADS and out.suffix in (ZIP, ""):
        _write_uploads(world, seed, out)
    else:
        uploads = ", or upload files to a .zip or a folder" if world in UPLOADS else ""
        raise UserError(
            f"simulate {world} writes Parquet{uploads}; name the file {out.with_suffix('.parquet')}"
        )


def _write_measurements(world: str, seed: int, out: Path) -> None:
    measurements = WORLDS[world](seed)
    measurements.write_parquet(out)
    say(
        f"wrote {out}: {len(measurements):,} measurements of {len(measurements.users)} users "
        f"in {len(measurements.cells)} cells"
    )


def _write_uploads(world: str, seed: int, out: Path) -> None:
    draw, timezone = UPLOADS[world]
    rows = draw(seed)
    files = write_upload_files(rows, out, timezone=timezone)
    say(
        f"wrote {out}: {files:,} upload files with {rows.height:,} measurements of "
        f"{rows['cell'].n_unique()} cells, times by the clock of {timezone}"
    )
