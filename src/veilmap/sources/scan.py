"""A source before it is read: rows in canonical columns, and what was left out."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import polars as pl

from veilmap.errors import UserError
from veilmap.faults import Fault, Origin
from veilmap.measurements import TimezoneBy
from veilmap.sources.columns import Roles

_NAMED_KINDS = 8
_LONGEST_REASON = 300


@dataclass(frozen=True)
class Scan:
    """Rows with canonical columns and ``row``, not yet read or checked.

    Where there are several files, or the format is one file per upload, a column ``file`` says
    where a row is from, and ``row`` counts within that file.

    Attributes:
        table: row, user, cell, time, lat_deg, lon_deg, rsrp_dbm, accuracy_m and perhaps file.
        timezone: their clock.
        roles: which column of the file plays which role; empty where files differ.
        formats: the recognised formats, and how many files have each.
        left_out: the files that could not be read, each with the reason.
        passed_over: the ``kind`` of each row that is valid but not a measurement of RSRP.
        origin: how to find a row in its file.
        timezone_by: how the clock is known; where the position has to tell, it is UTC until then.
    """

    table: pl.LazyFrame
    timezone: str
    roles: Roles
    formats: Mapping[str, int] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()
    passed_over: pl.LazyFrame | None = None
    origin: Origin = field(default_factory=Origin)
    timezone_by: TimezoneBy = "given"

    def count_passed_over(self) -> tuple[Fault, ...]:
        """The skipped rows of the whole source, before filters, most frequent kind first."""
        if self.passed_over is None:
            return ()
        counted = self.passed_over.group_by("kind").len().collect(engine="streaming")
        counted = counted.sort("len", "kind", descending=[True, False])
        faults = [Fault(kind, rows) for kind, rows in counted.head(_NAMED_KINDS).iter_rows()]
        others = int(counted["len"].slice(_NAMED_KINDS).sum())
        return (*faults, Fault("other kinds", others)) if others else tuple(faults)


def collected(table: pl.LazyFrame, source: str) -> pl.DataFrame:
    """All rows; a damaged Parquet file may give columns that differ in length."""
    frame = table.collect(engine="streaming")
    if {len(column) for column in frame.get_columns()} != {frame.height}:
        raise UserError(
            f"{source} is damaged: its columns differ in length; fetch it again or leave it out"
        )
    return frame


def in_memory(scan: Scan, source: str) -> Scan:
    """Read all rows, and the file's own texts of the few that lack a value."""
    passed_over = None if scan.passed_over is None else scan.passed_over.collect().lazy()
    table = collected(scan.table, source)
    values = pl.col("time", "lat_deg", "lon_deg", "rsrp_dbm")
    lacking = table.filter(pl.any_horizontal(values.is_null()))["row"]
    written = scan.origin.written
    if written is not None and len(lacking):
        written = written.filter(pl.col("row").is_in(lacking.implode())).collect().lazy()
    origin = replace(scan.origin, written=written if len(lacking) else None)
    return replace(scan, table=table.lazy(), passed_over=passed_over, origin=origin)


@contextmanager
def readable(source: str) -> Iterator[None]:
    """Turn errors of the table reader into one line."""
    try:
        yield
    # A panic of polars is not an Exception; damage inside a Parquet file may cause one.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0][:_LONGEST_REASON]
        raise UserError(f"cannot read {source}: {reason}; check that the file is whole") from error
    except OSError as error:
        reason = error.strerror or (str(error) or type(error).__name__).splitlines()[0]
        way_out = "check that the file is whole and that you may read it"
        raise UserError(f"cannot read {source}: {reason}; {way_out}") from error
