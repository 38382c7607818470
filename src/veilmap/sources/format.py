"""A known format: its columns, and which of its rows are measurements of RSRP."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from veilmap.faults import NO_NAMES
from veilmap.sources.columns import Columns

# LTE, LTE+, LTE_CA, 4G, 5G, 5G NSA, NR, NRNSA, E-UTRA. In the others "signal" is another quantity.
LTE_OR_5G = r"(?i)^(4G|5G|LTE|NR|E-?UTRA)"
# What Android and the loggers write for a number that the phone does not report.
UNKNOWN = (*NO_NAMES, "-1", "2147483647")
_LONGEST_RADIO = 40


@dataclass(frozen=True)
class Format:
    """A description over a table of raw columns; a user's own choice of columns wins over it.

    Rows without a radio technology are kept, as in any other table.

    Attributes:
        name: the format's common name.
        signature: the columns by which it is recognised.
        columns: the column of every role; it may be a derived one.
        optional: columns that some versions lack; they are then empty.
        derived: further columns, computed from those of the file.
        radio: the column with the radio technology; only LTE and 5G have RSRP.
        neighbour: condition for rows of a cell that did not serve the phone.
        one_file_per_upload: whether every file is one upload.
    """

    name: str
    signature: tuple[str, ...] = ()
    columns: Columns | None = None
    optional: tuple[str, ...] = ()
    derived: Mapping[str, pl.Expr] = field(default_factory=dict)
    radio: str | None = None
    neighbour: pl.Expr | None = None
    one_file_per_upload: bool = False

    def fits(self, header: Collection[str]) -> bool:
        """Whether a table with these columns is of this format."""
        return set(self.signature) <= set(header)

    def complete(self, raw: pl.LazyFrame) -> pl.LazyFrame:
        """With all columns that the roles may name."""
        lacking = set(self.optional) - set(raw.collect_schema())
        empty = {name: pl.lit(None, pl.String) for name in lacking}
        return raw.with_columns(**empty).with_columns(**self.derived)

    @property
    def passed_over(self) -> pl.Expr | None:
        """Why a row is not a measurement of a serving cell's RSRP; null if it is one."""
        kinds = []
        if self.neighbour is not None:
            kinds.append(pl.when(self.neighbour).then(pl.lit("a neighbouring cell")))
        if self.radio is not None:
            radio = pl.col(self.radio).cast(pl.String).str.strip_chars()
            other = ~radio.str.contains(LTE_OR_5G) & ~radio.is_in(NO_NAMES)
            text = pl.format("another radio technology ({})", radio.str.head(_LONGEST_RADIO))
            kinds.append(pl.when(other).then(text))
        return pl.coalesce(*kinds) if kinds else None


class Document(Protocol):
    """A module that reads files other than tables, as rows of raw columns."""

    FORMAT: Format
    COLUMN_TYPES: dict[str, pl.DataType]

    def parse(self, content: bytes, name: str) -> list[tuple[Any, ...]]:
        """The rows in the order of ``COLUMN_TYPES``; the first value is the row's number."""


def cell_name(mcc: str, mnc: str, cell: str) -> pl.Expr:
    """``mcc-mnc-cell``: a cell's number is unique within its operator's network alone."""
    return pl.concat_str(known(mcc), known(mnc), known(cell), separator="-")


def known(column: str) -> pl.Expr:
    """A column of texts; null where the phone did not report."""
    # Pandas writes whole numbers with gaps as 7.0.
    text = pl.col(column).cast(pl.String).str.strip_chars().str.strip_suffix(".0")
    return pl.when(~text.is_in(UNKNOWN)).then(text)


def number(column: str) -> pl.Expr:
    """A column of texts as numbers; other texts become null."""
    return pl.col(column).cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
