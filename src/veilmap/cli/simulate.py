"""``veilmap simulate``."""

from pathlib import Path
from typing import Literal

from veilmap.cli.console import say
from veilmap.errors import UserError
from veilmap.sources.reader import WORLDS


def simulate_(world: Literal["campus"] = "campus", *, seed: int = 0, out: Path) -> None:
    """Write the measurements of a simulated world to a Parquet file.

    Args:
        world: which one.
        seed: the same seed gives the same measurements.
        out: the file to write; any command of veilmap reads it.
    """
    if out.suffix != ".parquet":
        raise UserError(f"simulate writes Parquet; name the file {out.with_suffix('.parquet')}")
    measurements = WORLDS[world](seed)
    measurements.write_parquet(out)
    say(
        f"wrote {out}: {len(measurements):,} measurements of {len(measurements.users)} users "
        f"in {len(measurements.cells)} cells"
    )
