"""What makes a row invalid, kind by kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from veilmap.errors import shown

_LAT, _LON, _SIGNAL = pl.col("lat_deg"), pl.col("lon_deg"), pl.col("rsrp_dbm")

MIN_DBM = -200.0
MAX_DBM = 0.0

# What a phone can report of RSRP (3GPP TS 36.133); other quantities and faults go beyond it.
REPORTED_DBM = (-140.0, -44.0)

# How files write a missing name; in numbers and times such texts are unreadable anyway.
NO_NAMES = ("", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "-")

REPLACED = "\ufffd"  # stands for bytes that are not UTF-8


def is_no_name(column: str) -> pl.Expr:
    """Where a user or cell is missing."""
    return pl.col(column).is_null() | pl.col(column).is_in(NO_NAMES)


def is_misread(column: str) -> pl.Expr:
    """Where a name holds bytes that are not UTF-8; names that differ in these would be merged."""
    return pl.col(column).str.contains(REPLACED, literal=True).fill_null(False)


# Where the user or the cell cannot be identified.
BAD_NAME = is_no_name("user") | is_no_name("cell") | is_misread("user") | is_misread("cell")

# Kind → which rows have it, and the columns that show it. A row counts under its first kind.
CONDITIONS: dict[str, tuple[pl.Expr, tuple[str, ...]]] = {
    "missing user": (is_no_name("user"), ()),
    "missing cell": (is_no_name("cell"), ()),
    "a user or cell that is not UTF-8": (is_misread("user") | is_misread("cell"), ()),
    "missing or unreadable time": (pl.col("time").is_null(), ("time",)),
    "missing or unreadable position": (
        ~(_LAT.is_finite() & _LON.is_finite()).fill_null(False),
        ("lat_deg", "lon_deg"),
    ),
    "position out of range": ((_LAT.abs() > 90) | (_LON.abs() > 180), ("lat_deg", "lon_deg")),
    "position (0, 0)": ((_LAT == 0) & (_LON == 0), ()),
    "missing or unreadable signal": (~_SIGNAL.is_finite().fill_null(False), ("rsrp_dbm",)),
    f"signal at or above {MAX_DBM:g} dBm": (_SIGNAL >= MAX_DBM, ("rsrp_dbm",)),
    # -200 itself is what some loggers write for "no value".
    f"signal at or below {MIN_DBM:g} dBm": (_SIGNAL <= MIN_DBM, ("rsrp_dbm",)),
}
DUPLICATE = "duplicate of an earlier row"
KINDS = (*CONDITIONS, DUPLICATE)

# A measurement is the same as another when all of these agree.
IDENTITY = ("user", "cell", "time", "lat_deg", "lon_deg", "rsrp_dbm")


@dataclass(frozen=True)
class Origin:
    """Where rows are from, to show the first fault as it stands in the file.

    Attributes:
        in_lines: the files whose rows are numbered by their lines, the header being line 1; None
            is the only file. Rows of others count from 1.
        written: ``row``, perhaps ``file``, and ``time``, ``lat_deg``, ``lon_deg`` and ``rsrp_dbm``
            as texts that the file has; at least of all rows that lack one of them.
    """

    in_lines: frozenset[str | None] = frozenset()
    written: pl.LazyFrame | None = None


@dataclass(frozen=True)
class Fault:
    """How many rows have one kind of fault, and where the first one is.

    Of several files, the first is in the first by name, and rows count within it; ``unit`` is what
    is counted, ``line`` or ``row``.
    """

    kind: str
    rows: int
    first_row: int | None = None
    first_value: str = ""
    first_file: str | None = None
    unit: str = "row"

    def __str__(self) -> str:
        found = f"{self.rows:,} with {self.kind}"
        if self.first_row is None:
            return found
        file = f" of {self.first_file}" if self.first_file else ""
        value = f": {self.first_value}" if self.first_value else ""
        return f"{found} (first at {self.unit} {self.first_row:,}{file}{value})"


def fault_kind() -> pl.Expr:
    """The index in ``KINDS`` of a row's first fault other than duplication; null for none."""
    kinds = (
        pl.when(condition).then(pl.lit(index, pl.UInt8))
        for index, (condition, _) in enumerate(CONDITIONS.values())
    )
    return pl.coalesce(*kinds).alias("fault")


def find_faults(frame: pl.DataFrame, origin: Origin) -> tuple[pl.DataFrame, tuple[Fault, ...]]:
    """The sound rows, and the counts of the others. ``frame`` has a ``row`` column."""
    frame = frame.with_columns(fault_kind())
    sound = frame.filter(pl.col("fault").is_null())
    is_new = sound.select(pl.struct(IDENTITY).is_first_distinct()).to_series()
    duplicates = sound.filter(~is_new).with_columns(fault=pl.lit(KINDS.index(DUPLICATE), pl.UInt8))
    wrong = pl.concat([frame.filter(pl.col("fault").is_not_null()), duplicates])
    return sound.filter(is_new).drop("fault", "row"), count_faults(wrong.lazy(), origin)


def count_faults(wrong: pl.LazyFrame, origin: Origin) -> tuple[Fault, ...]:
    """Faulty rows, with their ``fault``, ``row`` and perhaps ``file``, counted by kind."""
    place = [name for name in ("file", "row") if name in wrong.collect_schema()]
    first = pl.col(*place, "time", "lat_deg", "lon_deg", "rsrp_dbm").sort_by(place).first()
    firsts = wrong.group_by("fault").agg(first, rows=pl.len()).sort("fault")
    counted = firsts.collect(engine="streaming")
    texts = _texts(counted.select(place), origin.written)
    return tuple(_fault(first, origin, texts) for first in counted.iter_rows(named=True))


_Texts = Mapping[tuple[str | None, int], Mapping[str, str | None]]


def _texts(places: pl.DataFrame, written: pl.LazyFrame | None) -> _Texts:
    """What the file has in these few rows; one more pass over it."""
    if written is None or places.is_empty():
        return {}
    found = written.join(places.lazy(), on=places.columns, how="semi").collect(engine="streaming")
    return {(row.get("file"), row["row"]): row for row in found.iter_rows(named=True)}


def _fault(first: Mapping[str, Any], origin: Origin, texts: _Texts) -> Fault:
    kind, file = KINDS[first["fault"]], first.get("file")
    names = CONDITIONS[kind][1] if kind in CONDITIONS else ()
    written = texts.get((file, first["row"])) if kind.startswith("missing or") else None
    values = ", ".join(_value(name, first, written) for name in names)
    unit = "line" if file in origin.in_lines else "row"
    return Fault(kind, first["rows"], first["row"], values, file, unit)


def _value(name: str, first: Mapping[str, Any], written: Mapping[str, str | None] | None) -> str:
    if written is not None:
        return "nothing" if written[name] is None else shown(written[name])
    return "" if name == "time" and first[name] is None else f"{first[name]}"
