"""Points in time as files write them, with an explicit format (guessing per row is slow)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import polars as pl

from veilmap.errors import UserError

# Tried in this order on a sample; the format must read every value of it.
FORMATS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y-%m-%d %H:%M:%S%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M:%S%#z",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y.%m.%d_%H.%M.%S",
    "%Y%m%d%H%M%S",
    "%d.%m.%Y %H:%M:%S",
)
# Day and month cannot be told apart where both are at most 12; both must be tried.
AMBIGUOUS = ("%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")

# The plausible range tells the unit of an epoch: 2001-09-09 is 1e9 s, and 1e11 s is the year 5138.
# Units per second → the size below which a number is in that unit.
_EPOCH_LIMITS = ((1.0, 1e11), (1e3, 1e14), (1e6, 1e17), (1e9, float("inf")))
_YEAR_2100_S = 4_102_444_800


def time_expression(sample: pl.Series, time_format: str | None, timezone: str) -> pl.Expr:
    """UTC times from the column that ``sample`` begins; unreadable ones are null."""
    column = pl.col(sample.name)
    if isinstance(sample.dtype, pl.Datetime):
        return _to_utc(column, sample.dtype.time_zone is not None, timezone)
    if sample.dtype == pl.Date:
        return _to_utc(column.cast(pl.Datetime("us")), False, timezone)
    if sample.dtype.is_numeric():
        return _epoch(column, sample)
    texts = sample.drop_nulls()
    numbers = texts.cast(pl.Float64, strict=False)
    are_numbers = numbers.len() > 0 and not numbers.has_nulls()
    if time_format is None and are_numbers and not _is_compact_date(texts):
        return _epoch(column.cast(pl.Float64, strict=False), numbers)
    chosen = guess_format(texts) if time_format is None else time_format
    if time_format is not None and not _reads(texts[:1], time_format):
        raise UserError(
            f"--time-format {time_format!r} does not read {texts[0]!r} in column {texts.name!r}"
        )
    parsed = column.str.to_datetime(chosen, strict=False, time_unit="us")
    # A literal Z says UTC; an offset makes polars give times that know their zone.
    aware = sample.to_frame().select(parsed).to_series().dtype != pl.Datetime("us")
    return _to_utc(parsed, aware, "UTC" if chosen.endswith("Z") else timezone)


def guess_format(texts: pl.Series) -> str:
    """The first known format that reads all of a sample."""
    if not texts.len():
        raise UserError(f"column {texts.name!r} has no time in it; name another with --time COLUMN")
    for known in FORMATS:
        if _reads(texts, known):
            return known
    fitting = [known for known in AMBIGUOUS if _reads(texts, known)]
    if len(fitting) == 1:
        return fitting[0]
    first = texts[0]
    if fitting:
        raise UserError(
            f"times like {first!r} in column {texts.name!r} fit both {fitting[0]!r} and "
            f"{fitting[1]!r}; choose with --time-format"
        )
    # Most values may be sound and a few broken: take the format that fits the first one.
    for known in (*FORMATS, *AMBIGUOUS):
        if _reads(texts[:1], known):
            return known
    raise UserError(
        f"column {texts.name!r} has times in an unknown form (first: {first!r}); "
        "give it with --time-format, for example '%d.%m.%Y %H:%M:%S'"
    )


def parse_moment(text: str, timezone: str) -> datetime:
    """A date or time the user typed, by the clock of ``timezone`` unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            f"cannot read the time {text!r}; write it like 2017-08-30 or 2017-08-30T22:50:14"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(timezone))
    return moment.astimezone(UTC)


def _reads(texts: pl.Series, known: str) -> bool:
    try:
        return not texts.str.to_datetime(known, strict=False).has_nulls()
    except pl.exceptions.PolarsError:
        return False


def _is_compact_date(texts: pl.Series) -> bool:
    # 20170830225014 is a number too; as an epoch it would lie 640,000 years ahead in seconds.
    return bool((texts.str.len_chars() == 14).all()) and _reads(texts, "%Y%m%d%H%M%S")


def _epoch(column: pl.Expr, sample: pl.Series) -> pl.Expr:
    typical = sample.drop_nulls().cast(pl.Float64).abs().median()
    size = float(typical) if isinstance(typical, int | float) else 0.0
    per_second = next(unit for unit, limit in _EPOCH_LIMITS if size < limit)
    seconds = column.cast(pl.Float64) / per_second
    # Outside of these years a number is no time, and most would not fit into one either.
    seconds = pl.when(seconds.is_between(0, _YEAR_2100_S)).then(seconds)
    return (seconds * 1e6).round().cast(pl.Int64).cast(pl.Datetime("us", "UTC"))


def _to_utc(column: pl.Expr, aware: bool, timezone: str) -> pl.Expr:
    if not aware:
        # An hour that a clock shows twice is taken as the first; one it never shows is a fault.
        column = column.dt.replace_time_zone(timezone, ambiguous="earliest", non_existent="null")
    return column.dt.convert_time_zone("UTC").dt.cast_time_unit("us")
