"""The table that every room speaks: who measured which cell, when, where, how strong."""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

import polars as pl

from veilmap.errors import UserError
from veilmap.faults import Fault
from veilmap.geo import Projection

# The columns of the table, in the order of the file that ``write_parquet`` makes.
SCHEMA: dict[str, pl.DataType] = {
    "user": pl.String(),
    "cell": pl.String(),
    "time": pl.Datetime("us", "UTC"),
    "lat_deg": pl.Float64(),
    "lon_deg": pl.Float64(),
    "x_m": pl.Float64(),
    "y_m": pl.Float64(),
    "rsrp_dbm": pl.Float64(),
    "accuracy_m": pl.Float64(),
}


@dataclass(frozen=True)
class Measurements:
    """Valid measurements, sorted by time, with their position also in metres of ``projection``.

    ``timezone`` is the clock by which days begin; ``dropped`` says which rows were left out.
    """

    table: pl.DataFrame
    projection: Projection
    timezone: str = "UTC"
    source: str = "memory"
    dropped: tuple[Fault, ...] = field(default=())

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        *,
        timezone: str = "UTC",
        source: str = "memory",
        dropped: tuple[Fault, ...] = (),
    ) -> "Measurements":
        """From valid rows with user, cell, time, lat_deg, lon_deg, rsrp_dbm and accuracy_m."""
        if frame.is_empty():
            raise UserError(
                f"{source} has no measurement left; loosen the filters or give another file"
            )
        lat_deg, lon_deg = frame["lat_deg"].to_numpy(), frame["lon_deg"].to_numpy()
        projection = Projection.utm_for(lat_deg, lon_deg)
        xy_m = projection.metres(lat_deg, lon_deg)
        table = frame.with_columns(x_m=xy_m[:, 0], y_m=xy_m[:, 1])
        table = table.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
        table = table.sort("time", "user", maintain_order=True)
        return cls(table, projection, timezone, source, dropped)

    def __len__(self) -> int:
        return self.table.height

    @cached_property
    def users(self) -> list[str]:
        """The users, the one with the most measurements first."""
        return _by_size(self.table, "user")

    @cached_property
    def cells(self) -> list[str]:
        """The cells, the one with the most measurements first."""
        return _by_size(self.table, "cell")

    @property
    def first(self) -> datetime:
        """When the first measurement was made."""
        moment: datetime = self.table["time"][0]
        return moment

    def of_cell(self, cell: str | None) -> "Measurements":
        """The measurements of one cell; None means the densest."""
        cell = self.cells[0] if cell is None else cell
        if cell not in self.cells:
            shown = ", ".join(self.cells[:8]) + (", …" if len(self.cells) > 8 else "")
            raise UserError(f"no measurement of cell {cell!r} in {self.source}; it has: {shown}")
        return self.keep(pl.col("cell") == cell)

    def keep(self, condition: pl.Expr | pl.Series) -> "Measurements":
        """The measurements that meet a condition."""
        return replace(self, table=self.table.filter(condition))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the values, so that a run can tell whether it meets the same data again."""
        digest = hashlib.sha256()
        for name in ("user", "cell", "time", "lat_deg", "lon_deg", "rsrp_dbm"):
            column = self.table[name]
            if column.dtype == pl.String:
                lengths = column.str.len_bytes().to_numpy()
                digest.update(lengths.tobytes() + "".join(column).encode())
            else:
                digest.update(column.to_physical().to_numpy().tobytes())
        return digest.hexdigest()

    def write_parquet(self, path: str | Path) -> None:
        """Write a file that ``veilmap.read`` takes back without any mapping of columns."""
        self.table.drop("x_m", "y_m").write_parquet(path)


def _by_size(table: pl.DataFrame, column: str) -> list[str]:
    counts = table.group_by(column).len().sort(["len", column], descending=[True, False])
    return counts[column].to_list()
