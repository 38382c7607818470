"""The table that all rooms share: user, cell, time, position and signal strength."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from veilmap.errors import UserError, shown
from veilmap.faults import IDENTITY, Fault, Origin, find_faults
from veilmap.files import PRIVATE, write_whole
from veilmap.geo import Floats, Projection, distance_m
from veilmap.time_zone.guess import guess_timezone
from veilmap.wording import counted, listed

# The columns of the table, in the order of the file that ``write_parquet`` makes.
COLUMN_TYPES: dict[str, pl.DataType] = {
    "user": pl.String(),
    "cell": pl.String(),
    "time": pl.Datetime("us", "UTC"),
    **dict.fromkeys(("lat_deg", "lon_deg", "x_m", "y_m", "rsrp_dbm", "accuracy_m"), pl.Float64()),
}


# How a time zone is known: from the caller, from a file of veilmap's, from the position, or not at
# all, where times are written without an offset and taken as UTC.
TimezoneBy = Literal["given", "file", "position", "writing"]
_HOW_KNOWN: Mapping[TimezoneBy, str] = {
    "given": "",
    "file": ", as the file says",
    "position": ", guessed from the position",
    "writing": ", in which times without an offset are read",
}
# Metadata of a Parquet file: the time zone in which days begin.
TIMEZONE_KEY = "veilmap_timezone"
# UTM is accurate in one zone; points farther than this from the centre need another map.
FARTHEST_M = 500_000.0


def clock_text(timezone: str, by: TimezoneBy) -> str:
    """``clock of Europe/Athens, guessed from the position``."""
    return f"clock of {timezone}{_HOW_KNOWN[by]}"


@dataclass(frozen=True)
class Measurements:
    """Valid measurements, sorted by time, with positions also in metres of ``projection``.

    Attributes:
        table: the columns of ``COLUMN_TYPES``.
        projection: the map projection of the metric positions.
        timezone: the time zone in which days begin and nights are counted.
        source: the name in messages.
        dropped: the rows that were left out, by kind.
        read_with: how the file was read, for the record.
        left_out: the files that were left out, with the reason.
        timezone_by: how the time zone is known.
    """

    table: pl.DataFrame
    projection: Projection
    timezone: str = "UTC"
    source: str = "memory"
    dropped: tuple[Fault, ...] = ()
    read_with: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()
    timezone_by: TimezoneBy = "given"

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        *,
        timezone: str = "UTC",
        timezone_by: TimezoneBy = "given",
        source: str = "memory",
        drop_invalid: bool = False,
        read_with: Mapping[str, Any] | None = None,
        passed_over: tuple[Fault, ...] = (),
        left_out: tuple[tuple[str, str], ...] = (),
        origin: Origin = Origin(),
    ) -> "Measurements":
        """From rows with user, cell, time (UTC), lat_deg, lon_deg, rsrp_dbm and accuracy_m.

        Columns ``row`` and ``file`` say where a row is from, and ``origin`` how to find it there.
        ``passed_over`` counts the source's rows that are not measurements; these are not faults.
        With ``timezone_by="position"`` the time zone is guessed.

        Raises:
            UserError: a column is missing, no row is left, or rows are invalid and
                ``drop_invalid`` is off.
        """
        missing = set(COLUMN_TYPES) - {"x_m", "y_m"} - set(frame.columns)
        if missing:
            raise UserError(f"{source} lacks the columns {', '.join(sorted(missing))}")
        sound, faults = sound_rows(
            frame, source=source, drop_invalid=drop_invalid, passed_over=passed_over, origin=origin
        )
        projection = _projection(sound, source)
        table = _with_metres(sound, projection)
        table = table.select(pl.col(name).cast(kind) for name, kind in COLUMN_TYPES.items())
        # By all columns, so that the order of a file's lines changes nothing.
        table = table.sort("time", *(name for name in IDENTITY if name != "time"))
        if timezone_by == "position":
            timezone = guess_timezone(*_middle_deg(table))
        dropped = (*passed_over, *faults)
        read_with = read_with or {}
        return cls(table, projection, timezone, source, dropped, read_with, left_out, timezone_by)

    def __len__(self) -> int:
        return self.table.height

    @cached_property
    def users(self) -> list[str]:
        """The users, those with most measurements first."""
        return by_size(self.table, "user")

    @cached_property
    def cells(self) -> list[str]:
        """The cells, those with most measurements first."""
        return by_size(self.table, "cell")

    @property
    def xy_m(self) -> Floats:
        """Positions in metres of the projection, one row per measurement."""
        return self.table.select("x_m", "y_m").to_numpy()

    @property
    def first(self) -> datetime:
        """When the first measurement was made."""
        moment: datetime = self.table["time"][0]
        return moment

    def of_cell(self, cell: str | None) -> "Measurements":
        """The measurements of one cell; None means the densest."""
        return self.keep(pl.col("cell") == find_cell(cell, self.cells, self.source))

    def keep(self, condition: pl.Expr | pl.Series) -> "Measurements":
        """The measurements that meet a condition."""
        return replace(self, table=self.table.filter(condition))

    def projected(self, projection: Projection) -> "Measurements":
        """The same with positions in metres of another projection."""
        return replace(self, table=_with_metres(self.table, projection), projection=projection)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the values, by which a run recognises its data."""
        digest = hashlib.sha256()
        for column in self.table.select(IDENTITY):
            if column.dtype == pl.String:
                lengths = column.str.len_bytes().to_numpy()
                digest.update(lengths.tobytes() + column.str.join("").item().encode())
            else:
                digest.update(column.to_physical().to_numpy().tobytes())
        return digest.hexdigest()

    def write_parquet(self, path: str | Path) -> None:
        """Write a file that ``veilmap.read`` reads without a mapping of columns."""
        file = BytesIO()
        self.table.drop("x_m", "y_m").write_parquet(file, metadata={TIMEZONE_KEY: self.timezone})
        write_whole(Path(path), file.getvalue(), PRIVATE)


def find_cell(cell: str | None, cells: list[str], source: str) -> str:
    """The cell called ``cell``; None means the first.

    The number alone is enough for ``mcc-mnc-number`` and ``xnumber`` if only one operator has it.
    """
    if cell is None:
        return cells[0]
    if cell in cells:
        return cell
    number = cell.removeprefix("x")
    matches = [name for name in cells if name.rpartition("-")[2].removeprefix("x") == number]
    if len(matches) > 1:
        found = f"{len(matches)} cells in {source} end in {shown(cell)}"
        raise UserError(f"{found}; choose one of: {listed(matches)}")
    if not matches:
        raise UserError(
            f"no measurement of cell {shown(cell)} in {source}; it has: {listed(cells)}"
        )
    return matches[0]


def sound_rows(
    frame: pl.DataFrame,
    *,
    source: str,
    drop_invalid: bool,
    passed_over: tuple[Fault, ...] = (),
    origin: Origin = Origin(),
) -> tuple[pl.DataFrame, tuple[Fault, ...]]:
    """The valid rows, at least one, and what was left out.

    ``passed_over`` counts rows dropped earlier, which may explain why no row is left.

    Raises:
        UserError: no row is left, or rows are invalid and ``drop_invalid`` is off.
    """
    if "row" not in frame.columns:
        frame = frame.with_row_index("row", offset=1)
    sound, faults = find_faults(frame, origin)
    if faults and (sound.is_empty() or not drop_invalid):
        raise _invalid(source, frame, faults)
    if sound.is_empty():
        why = "".join(f"; {fault}" for fault in passed_over)
        raise UserError(f"{source} has no measurement left; loosen the filters{why}")
    return sound, faults


def _with_metres(table: pl.DataFrame, projection: Projection) -> pl.DataFrame:
    xy_m = projection.metres(table["lat_deg"].to_numpy(), table["lon_deg"].to_numpy())
    return table.with_columns(x_m=xy_m[:, 0], y_m=xy_m[:, 1])


def _projection(sound: pl.DataFrame, source: str) -> Projection:
    lat_deg, lon_deg = sound["lat_deg"].to_numpy(), sound["lon_deg"].to_numpy()
    # From a point that is near most others, so that outliers are reported and not the others.
    middle = np.argsort(lat_deg)[len(lat_deg) // 2]
    away_m = distance_m(lat_deg, lon_deg, lat_deg[middle], lon_deg[middle])
    if away_m.max() > FARTHEST_M:
        outliers = counted(int((away_m > FARTHEST_M).sum()), "position")
        raise UserError(
            f"{source} has {outliers} farther than "
            f"{FARTHEST_M / 1000:g} km from the middle of the data (farthest: "
            f"{away_m.max() / 1000:,.0f} km); choose a region with --box WEST SOUTH EAST NORTH"
        )
    return Projection.utm_for(lat_deg, lon_deg)


def _middle_deg(table: pl.DataFrame) -> tuple[float, float]:
    """Of the box around all rows, which may lie on both sides of 180°."""
    lat, lon = pl.col("lat_deg"), pl.col("lon_deg")
    if table.select(lon.max() - lon.min()).item() > 180:
        lon = lon % 360
    return table.select((lat.min() + lat.max()) / 2, (lon.min() + lon.max()) / 2).row(0)


def _invalid(source: str, frame: pl.DataFrame, faults: tuple[Fault, ...]) -> UserError:
    bad = sum(fault.rows for fault in faults)
    drop = "drop them with --drop-invalid or " if bad < frame.height else ""
    return UserError(
        f"{source} has {counted(bad, 'invalid row')} of {frame.height:,}: "
        f"{'; '.join(map(str, faults))}; "
        f"{_suspicion(frame)}{drop}map other columns (--signal, --lat, --lon, --time)"
    )


def _suspicion(frame: pl.DataFrame) -> str:
    """A hint if all rows are wrong in the same way."""
    signal, lat, lon = (frame[name].drop_nulls() for name in ("rsrp_dbm", "lat_deg", "lon_deg"))
    hint = ""
    if len(signal) and (signal >= 0).all():
        hint += (
            "no signal is negative, so it is not RSRP in dBm (from LTE's ASU: ASU - 140): "
            "convert it; "
        )
    swapped = (frame["lat_deg"].abs() > 90) & (frame["lon_deg"].abs() <= 90)
    if swapped.any() and swapped.sum() == ((lat.abs() > 90) | (lon.abs() > 180)).sum():
        hint += "latitude and longitude look swapped: name each with --lat and --lon; "
    return hint


def by_size(table: pl.DataFrame, column: str) -> list[str]:
    """The names in a column, the most frequent first."""
    counts = table.group_by(column).len().sort(["len", column], descending=[True, False])
    return counts[column].to_list()
