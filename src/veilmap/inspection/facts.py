"""What is in a measurement file, in one pass over it.

Rows are read in chunks; 16 bytes per row are kept (a hash, to find duplicates, and its time) and a
few figures per chunk.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl
from pyproj import Geod

from veilmap.errors import UserError
from veilmap.faults import (
    BAD_NAME,
    DUPLICATE,
    IDENTITY,
    MAX_DBM,
    MIN_DBM,
    Fault,
    count_faults,
    fault_kind,
)
from veilmap.measurements import TimezoneBy
from veilmap.rounds import parse_interval, round_numbers
from veilmap.sources.columns import Columns, Roles
from veilmap.sources.reader import scan
from veilmap.sources.reading import Reading
from veilmap.sources.scan import Scan, readable
from veilmap.time_zone.guess import guess_timezone

INTERVALS = ("1h", "3h", "1d", "1w")
CHUNK_ROWS = 1_000_000

Box = tuple[float, float, float, float]  # west, south, east, north


@dataclass(frozen=True)
class RoundCount:
    """How the densest user's data of the densest cell fall into rounds of one duration."""

    interval: str
    rounds: int
    points_per_round: float


@dataclass(frozen=True)
class Inspection:
    """The facts of a file: ``rows`` counts all wanted rows, everything else the valid ones.

    Duplicates count as faults and are still part of the other figures. ``passed_over`` are the rows
    that are not measurements of RSRP; ``rows`` leaves them out.
    """

    source: str
    formats: Mapping[str, int]
    left_out: tuple[tuple[str, str], ...]
    passed_over: tuple[Fault, ...]
    columns: str
    timezone: str
    timezone_by: TimezoneBy
    rows: int
    faults: tuple[Fault, ...]
    users: int
    cells: int
    first: datetime
    last: datetime
    extent_km: tuple[float, float]
    mean_dbm: float
    std_dbm: float
    unknown_accuracy: int
    densest_user: str
    densest_cell: str
    densest_rows: int
    rounds: tuple[RoundCount, ...]


def inspect(
    data: str | Path, columns: Columns = Columns(), reading: Reading = Reading()
) -> Inspection:
    """Collect the facts; invalid rows are counted by kind, never an error."""
    source = Path(data).name
    scanned = scan(data, columns, reading)
    tally = _Tally()
    with readable(source):
        rows = scanned.table.drop("row", "file", strict=False)
        rows.sink_batches(tally.add, chunk_size=CHUNK_ROWS, maintain_order=True)
        faults = _first_faults(scanned) if tally.suspicious else ()
        passed_over = scanned.count_passed_over()
    if not tally.facts:
        why = "; ".join(map(str, (*faults, *passed_over))) or "the filters leave none"
        raise UserError(
            f"{source} has no valid measurement ({why}); check the columns it is read by "
            f"({_roles(scanned.roles)})"
        )
    return tally.conclude(source, scanned, faults, passed_over)


class _Tally:
    """What is kept of the chunks read: a few figures, and per row a hash and the time."""

    def __init__(self) -> None:
        self.suspicious = False
        self.facts: list[pl.DataFrame] = []
        self._times: list[pl.DataFrame] = []
        self._hashes: list[pl.Series] = []

    def add(self, chunk: pl.DataFrame) -> None:
        facts, times = chunk.select(_FACTS), chunk.group_by("user", "cell").agg("time")
        if times.select(BAD_NAME.any()).item() or not facts.select(_PLAINLY_SOUND).item():
            self.suspicious = True
            chunk = chunk.filter(fault_kind().is_null())
            facts, times = chunk.select(_FACTS), chunk.group_by("user", "cell").agg("time")
        if chunk.height:
            self.facts.append(facts)
            self._times.append(times)
            self._hashes.append(chunk.select(pl.struct(IDENTITY).hash()).to_series())

    def conclude(
        self, source: str, scanned: Scan, faults: tuple[Fault, ...], passed_over: tuple[Fault, ...]
    ) -> Inspection:
        times = pl.concat(self._times)
        counts = times.group_by("user", "cell").agg(pl.col("time").list.len().sum().alias("rows"))
        ranked = counts.sort("rows", "user", "cell", descending=[True, False, False])
        user, cell, rows = ranked.row(0)
        densest = times.filter(pl.col("user") == user, pl.col("cell") == cell)
        facts = pl.concat(self.facts).select(_MERGED_FACTS).row(0, named=True)
        # Equal 64-bit hashes stand for equal rows: 20 million different ones collide in one of
        # 90,000 files.
        repeated = facts["rows"] - pl.concat(self._hashes).n_unique()
        if repeated:
            faults = (*faults, Fault(DUPLICATE, repeated))
        box_deg = _box_deg(facts, scanned.table)
        timezone = _timezone(scanned, box_deg)
        return Inspection(
            source=source,
            formats=scanned.formats,
            left_out=scanned.left_out,
            passed_over=passed_over,
            timezone=timezone,
            timezone_by=scanned.timezone_by,
            columns=_roles(scanned.roles),
            rows=facts["rows"] + sum(fault.rows for fault in faults if fault.kind != DUPLICATE),
            faults=faults,
            users=counts["user"].n_unique(),
            cells=counts["cell"].n_unique(),
            first=facts["least_time"],
            last=facts["most_time"],
            extent_km=_extent_km(box_deg),
            mean_dbm=facts["mean_dbm"],
            std_dbm=max(facts["mean_square"] - facts["mean_dbm"] ** 2, 0.0) ** 0.5,
            unknown_accuracy=facts["unknown_accuracy"],
            densest_user=user,
            densest_cell=cell,
            densest_rows=rows,
            rounds=_count_rounds(densest["time"].explode(), timezone),
        )


_SIGNAL = pl.col("rsrp_dbm")
_RANGED = pl.col("time", "lat_deg", "lon_deg", "rsrp_dbm")
_FACTS = [
    pl.len().alias("rows"),
    _RANGED.min().name.prefix("least_"),
    _RANGED.max().name.prefix("most_"),
    _SIGNAL.mean().alias("mean_dbm"),
    (_SIGNAL**2).mean().alias("mean_square"),
    pl.col("accuracy_m").null_count().alias("unknown_accuracy"),
    pl.sum_horizontal(pl.col(IDENTITY).null_count()).alias("nulls"),
]
# Enough to be sure that no row of a chunk has a fault, and far cheaper than checking each row.
_PLAINLY_SOUND = pl.all_horizontal(
    pl.col("nulls") == 0,
    # All on one side of the equator or of the meridian, so none at (0, 0).
    pl.any_horizontal(pl.col("^least_l.*$") > 0, pl.col("^most_l.*$") < 0),
    pl.col("^.*_lat_deg$").abs() <= 90,
    pl.col("^.*_lon_deg$").abs() <= 180,
    pl.col("least_rsrp_dbm") > MIN_DBM,
    pl.col("most_rsrp_dbm") < MAX_DBM,
)
_WEIGHT = pl.col("rows") / pl.col("rows").sum()
_MERGED_FACTS = [
    pl.col("rows", "unknown_accuracy").sum(),
    pl.col("^least_.*$").min(),
    pl.col("^most_.*$").max(),
    (pl.col("mean_dbm", "mean_square") * _WEIGHT).sum(),
]


def _first_faults(scanned: Scan) -> tuple[Fault, ...]:
    """A second pass, only for files with faults: counts by kind and where the first one is."""
    wrong = scanned.table.with_columns(fault_kind()).filter(pl.col("fault").is_not_null())
    return count_faults(wrong, scanned.origin)


def _roles(roles: Roles) -> str:
    texts = (f"{role.removesuffix('_column')} = {name or 'none'}" for role, name in roles.items())
    return ", ".join(texts)


def _box_deg(facts: dict[str, float], rows: pl.LazyFrame) -> Box:
    west, east = facts["least_lon_deg"], facts["most_lon_deg"]
    if east - west > 180:
        west, east = min((west, east), _across_the_date_line(rows), key=np.ptp)
    return west, facts["least_lat_deg"], east, facts["most_lat_deg"]


def _timezone(scanned: Scan, box_deg: Box) -> str:
    """As reading the rows would have it."""
    if scanned.timezone_by != "position":
        return scanned.timezone
    west, south, east, north = box_deg
    return guess_timezone((south + north) / 2, (west + east) / 2)


def _extent_km(box_deg: Box) -> tuple[float, float]:
    """East-west along the middle latitude, and north-south, on the ellipsoid."""
    earth = Geod(ellps="WGS84")
    west, south, east, north = box_deg
    lons = np.linspace(west, east, 5)
    width_m = earth.line_length(lons, np.full(5, (south + north) / 2))
    return width_m / 1000, earth.line_length([0, 0], [south, north]) / 1000


def _across_the_date_line(rows: pl.LazyFrame) -> tuple[float, float]:
    """West and east counted beyond 180°; one more pass."""
    lon = pl.col("lon_deg").filter(fault_kind().is_null()) % 360
    west, east = rows.select(west=lon.min(), east=lon.max()).collect(engine="streaming").row(0)
    return west, east


def _count_rounds(times: pl.Series, timezone: str) -> tuple[RoundCount, ...]:
    seconds = times.dt.epoch("us").to_numpy() / 1e6
    first: datetime = times.min()  # type: ignore[assignment]
    counts = []
    for interval in INTERVALS:
        numbers = round_numbers(seconds, first, timezone, parse_interval(interval))
        rounds = len(np.unique(numbers))
        counts.append(RoundCount(interval, rounds, len(seconds) / rounds))
    return tuple(counts)
