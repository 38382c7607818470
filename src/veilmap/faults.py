"""What makes a row unusable, kind by kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

_LAT, _LON, _SIGNAL = pl.col("lat_deg"), pl.col("lon_deg"), pl.col("rsrp_dbm")

MIN_DBM = -200.0
MAX_DBM = 0.0

# What a phone can report of RSRP (3GPP TS 36.133); other quantities and faults go beyond it.
REPORTED_DBM = (-140.0, -44.0)

# How files write that there is no name; in numbers and times such a text is unreadable anyway.
NO_NAMES = ("", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "-")

REPLACED = "\ufffd"  # stands for bytes that are no UTF-8


def is_no_name(column: str) -> pl.Expr:
    """Where a user or cell is missing."""
    return pl.col(column).is_null() | pl.col(column).is_in(NO_NAMES)


def is_misread(column: str) -> pl.Expr:
    """Where a name holds bytes that are no UTF-8; two that differ in them would become one."""
    return pl.col(column).str.contains(REPLACED, literal=True).fill_null(False)


# Kind → which rows have it, and the columns that show it. A row counts under its first kind.
CONDITIONS: dict[str, tuple[pl.Expr, tuple[str, ...]]] = {
    "missing user": (is_no_name("user"), ()),
    "missing cell": (is_no_name("cell"), ()),
    "a user or cell that is not UTF-8": (is_misread("user") | is_misread("cell"), ()),
    "missing or unreadable time": (pl.col("time").is_null(), ()),
    "missing or unreadable position": (
        ~(_LAT.is_finite() & _LON.is_finite()).fill_null(False),
        ("lat_deg", "lon_deg"),
    ),
    "position out of range": (
        (_LAT.abs() > 90) | (_LON.abs() > 180),
        ("lat_deg", "lon_deg"),
    ),
    "position (0, 0)": ((_LAT == 0) & (_LON == 0), ()),
    "missing or unreadable signal": (~_SIGNAL.is_finite().fill_null(False), ()),
    f"signal at or above {MAX_DBM:g} dBm": (_SIGNAL >= MAX_DBM, ("rsrp_dbm",)),
    # -200 itself is what some loggers write for "no value".
    f"signal at or below {MIN_DBM:g} dBm": (_SIGNAL <= MIN_DBM, ("rsrp_dbm",)),
}
DUPLICATE = "duplicate of an earlier row"
KINDS = (*CONDITIONS, DUPLICATE)

# A measurement is the same as another when all of these agree.
IDENTITY = ("user", "cell", "time", "lat_deg", "lon_deg", "rsrp_dbm")


@dataclass(frozen=True)
class Fault:
    """How many rows have one kind of fault, and the first of them (rows count from 1).

    Of several files, the first is in the first by name, and rows count within it.
    """

    kind: str
    rows: int
    first_row: int | None = None
    first_value: str = ""
    first_file: str | None = None

    def __str__(self) -> str:
        return f"{self.rows:,} with {self.kind}{self._place}"

    @property
    def _place(self) -> str:
        if self.first_row is None:
            return ""
        file = f" of {self.first_file}" if self.first_file else ""
        value = f": {self.first_value}" if self.first_value else ""
        return f" (first at row {self.first_row:,}{file}{value})"


def fault_kind() -> pl.Expr:
    """The index in ``KINDS`` of a row's first fault other than duplication; null for none."""
    kinds = (
        pl.when(condition).then(pl.lit(index, pl.UInt8))
        for index, (condition, _) in enumerate(CONDITIONS.values())
    )
    return pl.coalesce(*kinds).alias("fault")


def find_faults(frame: pl.DataFrame) -> tuple[pl.DataFrame, tuple[Fault, ...]]:
    """The sound rows, and the counts of the others. ``frame`` has a ``row`` column."""
    frame = frame.with_columns(fault_kind())
    sound = frame.filter(pl.col("fault").is_null())
    is_new = sound.select(pl.struct(IDENTITY).is_first_distinct()).to_series()
    duplicates = sound.filter(~is_new).with_columns(fault=pl.lit(KINDS.index(DUPLICATE), pl.UInt8))
    wrong = pl.concat([frame.filter(pl.col("fault").is_not_null()), duplicates])
    return sound.filter(is_new).drop("fault", "row"), count_faults(wrong.lazy())


def count_faults(wrong: pl.LazyFrame) -> tuple[Fault, ...]:
    """Faulty rows, with their ``fault``, ``row`` and perhaps ``file``, counted by kind."""
    place = [name for name in ("file", "row") if name in wrong.collect_schema()]
    shown = pl.col(*place, "lat_deg", "lon_deg", "rsrp_dbm")
    firsts = wrong.group_by("fault").agg(pl.len().alias("rows"), shown.sort_by(place).first())
    counted = firsts.sort("fault").collect(engine="streaming")
    return tuple(_fault(first) for first in counted.iter_rows(named=True))


def _fault(first: Mapping[str, Any]) -> Fault:
    kind = KINDS[first["fault"]]
    shown = CONDITIONS[kind][1] if kind in CONDITIONS else ()
    values = ", ".join(f"{first[name]}" for name in shown)
    return Fault(kind, first["rows"], first["row"], values, first.get("file"))
