"""Points in time as files write them, with an explicit format (guessing per row is slow)."""

from datetime import datetime
from zoneinfo import ZoneInfo, available_timezones

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
_EPOCH_LIMITS = (("s", 1e11), ("ms", 1e14), ("us", 1e17), ("ns", float("inf")))


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
    chosen = time_format or guess_format(texts)
    aware = chosen.endswith(("%#z", "%z"))
    utc = chosen.endswith("Z")
    parsed = column.str.to_datetime(chosen, strict=False, time_unit="us")
    return _to_utc(parsed, aware, "UTC" if utc else timezone)


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


def check_timezone(timezone: str) -> str:
    """The name back, or an error with a way out."""
    if timezone not in available_timezones():
        raise UserError(
            f"unknown time zone {timezone!r}; give an IANA name such as Europe/Athens or UTC"
        )
    return timezone


def parse_moment(text: str, timezone: str) -> datetime:
    """A date or time the user typed, by the clock of ``timezone`` unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            f"cannot read the time {text!r}; write it like 2017-08-30 or 2017-08-30T22:50:14"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(timezone))


def _reads(texts: pl.Series, known: str) -> bool:
    return not texts.str.to_datetime(known, strict=False).has_nulls()


def _is_compact_date(texts: pl.Series) -> bool:
    # 20170830225014 is a number too; as an epoch it would lie 640,000 years ahead in seconds.
    return bool((texts.str.len_chars() == 14).all()) and _reads(texts, "%Y%m%d%H%M%S")


def _epoch(column: pl.Expr, sample: pl.Series) -> pl.Expr:
    typical = sample.drop_nulls().cast(pl.Float64).abs().median() or 0.0
    unit, _ = next(pair for pair in _EPOCH_LIMITS if float(typical) < pair[1])  # type: ignore[arg-type]
    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
    microseconds = (column.cast(pl.Float64) * (1e6 / per_second)).round()
    return microseconds.cast(pl.Int64, strict=False).cast(pl.Datetime("us", "UTC"))


def _to_utc(column: pl.Expr, aware: bool, timezone: str) -> pl.Expr:
    if not aware:
        # An hour that a clock shows twice is taken as the first; one it never shows is a fault.
        column = column.dt.replace_time_zone(timezone, ambiguous="earliest", non_existent="null")
    return column.dt.convert_time_zone("UTC").dt.cast_time_unit("us")
