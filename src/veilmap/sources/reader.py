"""One call that reads a file of any known kind, or makes a simulated world."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from veilmap.errors import UserError
from veilmap.measurements import Measurements
from veilmap.settings import plain
from veilmap.sources.columns import Columns
from veilmap.sources.gathering import gather
from veilmap.sources.reading import Reading
from veilmap.sources.scan import Scan, collected, readable

# The name on the command line is that of the module. It is imported when the world is simulated:
# scipy, which streets and radio need, takes longer to load than most files to read.
WORLDS = ("campus", "london")


def read(
    data: str | Path, columns: Columns = Columns(), reading: Reading = Reading()
) -> Measurements:
    """Read a measurement file, a folder or archive of them, or simulate a world (with seed 0).

    Raises:
        UserError: a file cannot be read and ``keep_going`` is off, or there are invalid rows and
            ``drop_invalid`` is off.
    """
    scanned = scan(data, columns, reading)
    source = Path(data).name
    with readable(source):
        return Measurements.of(
            collected(scanned.table, source),
            timezone=scanned.timezone,
            timezone_by=scanned.timezone_by,
            source=source,
            drop_invalid=reading.drop_invalid,
            passed_over=scanned.count_passed_over(),
            left_out=scanned.left_out,
            origin=scanned.origin,
            read_with={"path": str(data), "columns": plain(columns), "reading": plain(reading)},
        )


def scan(data: str | Path, columns: Columns = Columns(), reading: Reading = Reading()) -> Scan:
    """The wanted rows, not yet read or checked."""
    scan_source = _scan_world if is_world(data) else _scan_file
    everything = scan_source(data, columns, reading)
    table = everything.table
    for condition in reading.unwanted(everything.timezone):
        table = table.filter(~condition.fill_null(False))
    return replace(everything, table=table)


def _scan_world(name: str | Path, columns: Columns, reading: Reading) -> Scan:
    if columns != Columns() or reading.timezone or reading.time_format:
        raise UserError(
            f"{name} is a simulated world with columns and a clock of its own; leave out the "
            "options for columns, --timezone and --time-format, or give a file"
        )
    world: Measurements = import_module(f"veilmap.sources.{name}").simulate(0)
    return Scan(world.table.lazy().with_row_index("row", offset=1), world.timezone, {})


def _scan_file(data: str | Path, columns: Columns, reading: Reading) -> Scan:
    path = Path(data)
    with readable(path.name):
        if not str(data) or not path.exists():
            raise UserError(
                f"there is no file {str(data)!r}; give a measurement file, a folder or archive of "
                f"them, or one of: {', '.join(WORLDS)}"
            )
        if not (path.is_file() or path.is_dir()):
            raise UserError(f"{path} is a pipe or device; save the measurements to a file first")
        return gather(path, columns, reading)


def is_world(data: str | Path) -> bool:
    """Whether the name is that of a simulated world and not of a file."""
    return str(data) in WORLDS and not Path(data).exists()
