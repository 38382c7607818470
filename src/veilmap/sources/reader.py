"""One call that reads a file of any known kind, or makes a simulated world."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl

from veilmap.errors import UserError
from veilmap.measurements import Measurements
from veilmap.settings import plain
from veilmap.sources import campus, london, tables
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.sources.tables import Scan

# Name on the command line → the world with its default parameters, from a seed.
WORLDS: dict[str, Callable[[int], Measurements]] = {
    "campus": campus.simulate,
    "london": london.simulate,
}


def read(
    data: str | Path, columns: Columns = Columns(), reading: Reading = Reading()
) -> Measurements:
    """Read a measurement file, or simulate the world of that name (with seed 0).

    Raises:
        UserError: the file cannot be read, or has invalid rows and ``drop_invalid`` is off.
    """
    scanned = scan(data, columns, reading)
    source = Path(data).name
    with readable(source):
        frame = scanned.table.collect(engine="streaming")
    return Measurements.of(
        frame,
        timezone=scanned.timezone,
        source=source,
        drop_invalid=reading.drop_invalid,
        read_with={"path": str(data), "columns": plain(columns), "reading": plain(reading)},
    )


def scan(data: str | Path, columns: Columns = Columns(), reading: Reading = Reading()) -> Scan:
    """The wanted rows, not yet read or checked."""
    everything = (
        _scan_world(str(data)) if is_world(data) else _scan_file(Path(data), columns, reading)
    )
    table = everything.table
    for condition in reading.unwanted(everything.timezone):
        table = table.filter(~condition.fill_null(False))
    return replace(everything, table=table)


def _scan_world(name: str) -> Scan:
    world = WORLDS[name](0)
    return Scan(world.table.lazy().with_row_index("row", offset=1), world.timezone, {})


def _scan_file(path: Path, columns: Columns, reading: Reading) -> Scan:
    with readable(path.name):
        if path.is_dir():
            raise UserError(f"{path} is a folder; give one measurement file")
        if not path.exists():
            worlds = ", ".join(WORLDS)
            raise UserError(
                f"there is no file {path}; give a CSV or Parquet file, or one of: {worlds}"
            )
        if not path.is_file():
            raise UserError(f"{path} is a pipe or device; save the measurements to a file first")
        return tables.scan(path, columns, reading)


def is_world(data: str | Path) -> bool:
    """Whether the name is that of a simulated world, and of no file."""
    return str(data) in WORLDS and not Path(data).exists()


@contextmanager
def readable(source: str) -> Iterator[None]:
    """Within the block, what the table reader cannot take becomes one line."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"cannot read {source}: {reason}; check that the file is whole") from error
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0]
        raise UserError(f"cannot read {source}: {reason}") from error
