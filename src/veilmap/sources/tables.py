"""CSV (also gzipped) and Parquet files with any column names."""

import gzip
import zlib
from pathlib import Path

import polars as pl

from veilmap.errors import UserError
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.sources.timestamps import time_expression

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_ROWS = 1000
_HEADER_BYTES = 1 << 16


def scan(path: Path, columns: Columns, reading: Reading) -> pl.LazyFrame:
    """All rows with canonical columns and ``row``, not yet read or checked."""
    raw = pl.scan_parquet(path) if is_parquet(path) else _scan_csv(path, columns)
    roles = columns.resolve(raw.collect_schema().names(), path.name)
    if reading.max_accuracy_m is not None and roles["accuracy"] is None:
        raise UserError(
            f"{path.name} has no column of accuracies; name one with --accuracy COLUMN "
            "or leave --max-accuracy out"
        )
    sample = raw.select(str(roles["time"])).head(SAMPLE_ROWS).collect().to_series()
    if sample.is_empty():
        raise UserError(f"{path.name} has a header and no row; give a file with measurements")
    time = time_expression(sample, reading.time_format, reading.timezone)
    return raw.with_row_index("row", offset=1).select("row", **_canonical(raw, roles, time))


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
    texts = pl.scan_csv(path, separator=delimiter, infer_schema=False, encoding="utf8-lossy")
    roles = columns.resolve(texts.collect_schema().names(), path.name)
    numbers = {name: pl.Float64 for role in _NUMBERS if (name := roles[role]) is not None}
    return pl.scan_csv(
        path,
        separator=delimiter,
        infer_schema=False,
        schema_overrides=numbers,
        # What is no number becomes null, and with that a counted fault.
        ignore_errors=True,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
    )


_NUMBERS = ("lat", "lon", "signal", "accuracy")


def _canonical(
    raw: pl.LazyFrame, roles: dict[str, str | None], time: pl.Expr
) -> dict[str, pl.Expr]:
    return {
        "user": _name(raw, roles["user"]),
        "cell": _name(raw, roles["cell_column"]),
        "time": time,
        "lat_deg": _number(roles["lat"]),
        "lon_deg": _number(roles["lon"]),
        "rsrp_dbm": _number(roles["signal"]),
        "accuracy_m": _number(roles["accuracy"]),
    }


def _number(column: str | None) -> pl.Expr:
    values = pl.lit(None) if column is None else pl.col(column)
    return values.cast(pl.Float64, strict=False)


def _name(raw: pl.LazyFrame, column: str | None) -> pl.Expr:
    """A user or cell as text; whole numbers without the '.0' that a missing value gives them."""
    if column is None:
        return pl.lit("0")
    values = pl.col(column)
    if raw.collect_schema()[column].is_float():
        values = values.cast(pl.Int64, strict=False)
    return values.cast(pl.String)


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
    try:
        line = start.decode(
            "utf-8-sig", errors="strict" if len(start) < _HEADER_BYTES else "ignore"
        )
    except UnicodeDecodeError:
        line = "\0"
    if "\0" in line:
        raise UserError(
            f"{path.name} is neither text nor Parquet; give a CSV (also .gz) or Parquet file"
        )
    return line.splitlines()[0]
