"""CSV (also gzipped) and Parquet files with any column names."""

import codecs
import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.errors import UserError
from veilmap.measurements import TIMEZONE_KEY
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.sources.timestamps import time_expression

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_ROWS = 1000
_NUMBERS = ("lat", "lon", "signal", "accuracy")
_HEADER_BYTES = 1 << 16


@dataclass(frozen=True)
class Scan:
    """Rows with canonical columns and ``row``, not yet read or checked.

    ``timezone`` is their clock, ``roles`` says which column of the file plays which role.
    """

    table: pl.LazyFrame
    timezone: str
    roles: Mapping[str, str | None]


def scan(path: Path, columns: Columns, reading: Reading) -> Scan:
    """All rows of a file."""
    raw = pl.scan_parquet(path, glob=False) if is_parquet(path) else _scan_csv(path, columns)
    roles = columns.resolve(raw.collect_schema().names(), path.name)
    if reading.max_accuracy_m is not None and roles["accuracy"] is None:
        raise UserError(
            f"{path.name} has no column of accuracies; name one with --accuracy COLUMN "
            "or leave --max-accuracy out"
        )
    sample = raw.select(*{name for name in roles.values() if name}).head(SAMPLE_ROWS).collect()
    if sample.is_empty():
        raise UserError(f"{path.name} has a header and no row; give a file with measurements")
    timezone = reading.timezone or _own_timezone(path)
    time = time_expression(sample[str(roles["time"])], reading.time_format, timezone)
    table = raw.with_row_index("row", offset=1).select("row", **_canonical(sample, roles, time))
    nothing = pl.all_horizontal(pl.col("time", "lat_deg", "lon_deg", "rsrp_dbm").is_null())
    return Scan(table.filter(~nothing), timezone, roles)


def _own_timezone(path: Path) -> str:
    """What ``Measurements.write_parquet`` left in the file, else UTC."""
    metadata = pl.read_parquet_metadata(path) if is_parquet(path) else {}
    return metadata.get(TIMEZONE_KEY, "UTC")


def is_parquet(path: Path) -> bool:
    """By its content; names say little."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _scan_csv(path: Path, columns: Columns) -> pl.LazyFrame:
    header_line = _header_line(path)
    delimiter = max(DELIMITERS, key=header_line.count)
    if delimiter not in header_line:
        raise UserError(
            f"{path.name} has one single column ({header_line[:60]!r}); columns must be separated "
            "by a comma, semicolon, tab or '|' and named in the first line"
        )
    options: dict[str, Any] = {
        "separator": delimiter,
        "infer_schema": False,
        "truncate_ragged_lines": True,
        "encoding": "utf8-lossy",
        "glob": False,
    }
    texts = pl.scan_csv(path, **options)
    roles = columns.resolve(texts.collect_schema().names(), path.name)
    names = [name for role in _NUMBERS if (name := roles[role]) is not None]
    sample = texts.select(names).head(SAMPLE_ROWS).collect()
    if any(sample[name].str.contains(r"^\s|\s$").any() for name in names):
        return texts  # padded numbers are stripped later, which is slower
    return pl.scan_csv(
        path,
        schema_overrides=dict.fromkeys(names, pl.Float64),
        # What is no number becomes null, and with that a counted fault.
        ignore_errors=True,
        decimal_comma=any(sample[name].str.contains(r"^-?\d+,\d+$").any() for name in names),
        **options,
    )


def _canonical(
    sample: pl.DataFrame, roles: dict[str, str | None], time: pl.Expr
) -> dict[str, pl.Expr]:
    accuracy_m = _number(sample, roles["accuracy"])
    return {
        "user": _name(sample, roles["user"]),
        "cell": _name(sample, roles["cell_column"]),
        "time": time,
        "lat_deg": _number(sample, roles["lat"]),
        "lon_deg": _number(sample, roles["lon"]),
        "rsrp_dbm": _number(sample, roles["signal"]),
        # Phones write a negative accuracy for "unknown".
        "accuracy_m": pl.when(accuracy_m >= 0).then(accuracy_m),
    }


def _number(sample: pl.DataFrame, column: str | None) -> pl.Expr:
    if column is None:
        return pl.lit(None, pl.Float64)
    values = pl.col(column)
    if sample[column].dtype == pl.String:
        values = values.str.strip_chars()
    return values.cast(pl.Float64, strict=False).fill_nan(None)


def _name(sample: pl.DataFrame, column: str | None) -> pl.Expr:
    """A user or cell as text; whole numbers without the '.0' that a missing value gives them."""
    if column is None:
        return pl.lit("0")
    names = pl.col(column).cast(pl.String)
    shown = sample[column].drop_nulls().cast(pl.String)
    if shown.str.contains(r"^\s|\s$").any():
        names = names.str.strip_chars()
    are_whole_floats = shown.len() > 0 and shown.str.contains(r"^-?\d+\.0$").all()
    return names.str.strip_suffix(".0") if are_whole_floats else names


def _header_line(path: Path) -> str:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            start = file.read(_HEADER_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path.name} is a broken gzip file ({error}); pack it again") from error
    if not start.strip():
        raise UserError(f"{path.name} is empty; give a file with a header line and measurements")
    if b"\0" in start:
        raise UserError(
            f"{path.name} is neither text nor Parquet; give a CSV (also .gz) or Parquet file"
        )
    try:
        # Incremental, because the piece may end in the middle of a character.
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path.name} is not UTF-8 text (byte {error.start:,}); convert it, for example with: "
            f"iconv -f latin1 -t utf-8 {path.name}"
        ) from None
    return text.splitlines()[0]
