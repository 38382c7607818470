"""One call that reads a file of any known kind, or makes a simulated world."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from veilmap.errors import UserError
from veilmap.faults import Fault, find_faults
from veilmap.measurements import Measurements
from veilmap.sources import campus, tables
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading

# Name on the command line → the world with its default parameters, from a seed.
WORLDS: dict[str, Callable[[int], Measurements]] = {"campus": campus.simulate}


def read(
    data: str | Path, columns: Columns = Columns(), reading: Reading = Reading()
) -> Measurements:
    """Read a measurement file, or simulate the world of that name (with seed 0).

    Raises:
        UserError: the file cannot be read, or has invalid rows and ``drop_invalid`` is off.
    """
    if is_world(data):
        return WORLDS[str(data)](0)
    source = Path(data).name
    with readable(source):
        frame = scan(data, columns, reading).collect(engine="streaming")
    sound, faults = find_faults(frame)
    if faults and not reading.drop_invalid:
        raise _invalid(source, frame.height, faults)
    return Measurements.of(sound, timezone=reading.timezone, source=source, dropped=faults)


def scan(
    data: str | Path, columns: Columns = Columns(), reading: Reading = Reading()
) -> pl.LazyFrame:
    """The wanted rows with canonical columns and ``row``, not yet read or checked."""
    if is_world(data):
        return WORLDS[str(data)](0).table.lazy().with_row_index("row", offset=1)
    path = Path(data)
    if path.is_dir():
        raise UserError(f"{path} is a folder; give one measurement file")
    if not path.exists():
        worlds = ", ".join(WORLDS)
        raise UserError(f"there is no file {path}; give a CSV or Parquet file, or one of: {worlds}")
    with readable(path.name):
        table = tables.scan(path, columns, reading)
    for condition in reading.unwanted():
        table = table.filter(~condition.fill_null(False))
    return table


def is_world(data: str | Path) -> bool:
    """Whether the name is that of a simulated world, and of no file."""
    return str(data) in WORLDS and not Path(data).exists()


@contextmanager
def readable(source: str) -> Iterator[None]:
    """Within the block, what the table reader cannot take becomes one line."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"cannot read {source}: {reason}; check that the file is whole") from error


def _invalid(source: str, rows: int, faults: tuple[Fault, ...]) -> UserError:
    bad = sum(fault.rows for fault in faults)
    return UserError(
        f"{source} has {bad:,} invalid of {rows:,} rows: {'; '.join(map(str, faults))}; "
        "drop them with --drop-invalid or map other columns (--signal, --lat, --lon, --time)"
    )
