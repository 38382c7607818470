"""Points in time as files write them, with an explicit format (guessing per row is slow)."""

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import polars as pl

from veilmap.errors import UserError, shown

# The format that reads most of a sample is taken; the first one if equal.
FORMATS = (
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%.fZ",
    # With an offset.
    "%Y-%m-%d %H:%M:%S%#z", "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M:%S%#z", "%Y-%m-%dT%H:%M:%S%.f%#z",
    # Without seconds.
    "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d",
    "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y.%m.%d_%H.%M.%S",
    "%Y%m%d%H%M%S", "%Y%m%dT%H%M%SZ",
    "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M",
)  # fmt: skip
# In these, day and month are ambiguous if both are at most 12.
AMBIGUOUS = (
    "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M",
    "%d/%m/%Y %I:%M:%S %p", "%m/%d/%Y %I:%M:%S %p",
)  # fmt: skip

# Units per second → the size below which a number since 1970 is in that unit: 1e11 s is the year
# 5138, and 1e11 ms is 1973.
_EPOCH_UNITS = ((1.0, 1e11), (1e3, 1e14), (1e6, 1e17), (1e9, float("inf")))
# Times outside these years are errors: mostly a misread number or year.
_EARLIEST, _LATEST = datetime(1990, 1, 1), datetime(2100, 1, 1)


@dataclass(frozen=True)
class Times:
    """How a column is read as points in time.

    Attributes:
        utc: the expression; unreadable times are null.
        know_utc: the column says itself where on the time axis it is, as numbers since 1970 and
            texts with an offset do; another is the time of some clock.
    """

    utc: pl.Expr
    know_utc: bool


def times_of(sample: pl.Series, time_format: str | None, timezone: str, source: str) -> Times:
    """Of the column of ``source`` that ``sample`` begins."""
    column = pl.col(sample.name)
    if isinstance(sample.dtype, pl.Datetime):
        return _times(column, sample.dtype.time_zone is not None, timezone)
    if sample.dtype == pl.Date:
        return _times(column.cast(pl.Datetime("us")), False, timezone)
    texts = sample.cast(pl.String).str.strip_chars().drop_nulls()
    if texts.is_empty():
        raise UserError(f"{_column(sample, source)} has no time in it; name it with --time COLUMN")
    epoch = _epoch(column, texts)
    as_numbers = texts.to_frame().select(epoch).to_series().count()
    if as_numbers == texts.len() and not time_format:
        return Times(
            epoch, True
        )  # no text of digits that a format reads is also a plausible number
    chosen, as_texts = _own(time_format, texts, source) if time_format else _best(texts, source)
    if as_numbers > as_texts:
        return Times(epoch, True)
    if not as_texts:
        raise _unreadable(texts, source)
    is_padded = sample.dtype != pl.String or sample.str.contains(r"^\s|\s$").any()
    written = column.cast(pl.String).str.strip_chars() if is_padded else column
    parsed = written.str.to_datetime(chosen, strict=False, time_unit="us")
    # A literal Z says UTC; an offset makes polars give times that know their zone.
    aware = texts.to_frame().select(parsed).to_series().dtype != pl.Datetime("us")
    is_utc = chosen.endswith("Z")
    return Times(_to_utc(parsed, aware, "UTC" if is_utc else timezone), aware or is_utc)


def _unreadable(texts: pl.Series, source: str) -> UserError:
    # The year 17 is a misread 2017.
    if any((_read(texts, known).dt.year() >= 1000).any() for known in FORMATS):
        found = f"times outside of the years {_EARLIEST.year} to {_LATEST.year - 1}"
        way_out = "fix them, or name another column with --time"
    else:
        found = "times in an unknown form"
        way_out = "give it with --time-format, for example '%d.%m.%Y %H:%M:%S'"
    return UserError(f"{_column(texts, source)} has {found} (first: {shown(texts[0])}); {way_out}")


def parse_moment(text: str, timezone: str) -> datetime:
    """A date or time that the user typed, in ``timezone`` unless it has an offset."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            f"cannot read the time {shown(text)}; write it like 2017-08-30 or 2017-08-30T22:50:14"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(timezone))
    return moment.astimezone(UTC)


def _best(texts: pl.Series, source: str) -> tuple[str, int]:
    """The known format that reads most of a sample, and how many it reads."""
    counts: dict[str, int] = {}
    for known in (*FORMATS, *AMBIGUOUS):
        counts[known] = _count(texts, known)
        if counts[known] == texts.len() and known in FORMATS:
            break  # none reads more, and trying all takes longer than reading a small file
    most = max(counts.values())
    fitting = [known for known, count in counts.items() if count == most]
    if most and len(fitting) > 1 and fitting[0] in AMBIGUOUS:
        raise UserError(
            f"times like {shown(texts[0])} in {_column(texts, source)} fit both {fitting[0]!r} and "
            f"{fitting[1]!r}; choose with --time-format"
        )
    return fitting[0], most


def _own(time_format: str, texts: pl.Series, source: str) -> tuple[str, int]:
    """The user's format; Python's ``.%f`` is the fraction of a second that polars calls ``%.f``."""
    chosen = time_format.replace(".%f", "%.f")
    count = _count(texts, chosen)
    if not count:
        raise UserError(
            f"--time-format {shown(time_format)} does not read {shown(texts[0])} in "
            f"{_column(texts, source)}; give another, or leave it out to have it guessed"
        )
    return chosen, texts.len()


def _column(texts: pl.Series, source: str) -> str:
    return f"column {shown(texts.name)} of {source}"


def _count(texts: pl.Series, known: str) -> int:
    return int(_read(texts, known).dt.year().is_between(_EARLIEST.year, _LATEST.year - 1).sum())


def _read(texts: pl.Series, known: str) -> pl.Series:
    try:
        return texts.str.to_datetime(known, strict=False)
    except pl.exceptions.PolarsError:
        return texts.clear().cast(pl.Datetime("us"), strict=False)


def _epoch(column: pl.Expr, texts: pl.Series) -> pl.Expr:
    numbers = texts.cast(pl.Float64, strict=False).drop_nulls().drop_nans().abs()
    typical = numbers.median()
    size = float(typical) if isinstance(typical, int | float) else 0.0
    per_second = next((unit for unit, limit in _EPOCH_UNITS if size < limit), 1e9)
    seconds = column.cast(pl.Float64, strict=False) / per_second
    earliest_s, latest_s = (each.replace(tzinfo=UTC).timestamp() for each in (_EARLIEST, _LATEST))
    plausible = pl.when(seconds.is_between(earliest_s, latest_s)).then(seconds)
    return (plausible * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us", "UTC"))


def _times(column: pl.Expr, aware: bool, timezone: str) -> Times:
    return Times(_to_utc(column, aware, timezone), aware)


def _to_utc(column: pl.Expr, aware: bool, timezone: str) -> pl.Expr:
    if aware:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    column = column.dt.cast_time_unit("us")
    column = pl.when(column.is_between(_EARLIEST, _LATEST)).then(column)
    # An hour that occurs twice is taken as the first; one that is skipped is a fault.
    zone = "UTC" if aware else timezone
    column = column.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return column.dt.convert_time_zone("UTC")
