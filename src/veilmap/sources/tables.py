"""Tables with any column names, from CSV (also gzipped) and Parquet files or a document's rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from veilmap.errors import UserError, shown
from veilmap.faults import Origin
from veilmap.measurements import TIMEZONE_KEY
from veilmap.sources import gnettrack, opencellid, parquet, towercollector
from veilmap.sources.columns import FILE, Columns
from veilmap.sources.csv_batching import are_alike, join
from veilmap.sources.csv_text import SAMPLE_ROWS, dialect, scan_numbers
from veilmap.sources.format import Format
from veilmap.sources.piece import Piece
from veilmap.sources.reading import Reading
from veilmap.sources.scan import Scan
from veilmap.sources.timestamps import time_expression

KNOWN = (opencellid.FORMAT, gnettrack.LOG, gnettrack.CORK, towercollector.FORMAT)
ROW = "(row)"  # of raw tables, which may have a column of their own with a plainer name
_NUMBERS = ("lat", "lon", "signal", "accuracy")


def scan(piece: Piece, columns: Columns, reading: Reading, *, of_several: bool) -> Scan:
    """All rows of a file; its type is recognised by the content, not by the name."""
    is_parquet = piece.head.startswith(parquet.MAGIC)
    if is_parquet:
        piece = piece.unpacked()
        parquet.refuse_bomb(piece)
        texts = raw = parquet.short_texts(pl.scan_parquet(piece.for_polars, glob=False))
        known = _recognise(_names(raw), Format("Parquet"))
        own = pl.read_parquet_metadata(piece.for_polars).get(TIMEZONE_KEY, "UTC")
        reading = replace(reading, timezone=reading.timezone or own)
    else:
        raw, texts, known = _scan_csv(piece, columns, of_several)
    file = piece.name if of_several else None
    # In a text the header is line 1, and the first row line 2.
    raw, texts = (_numbered(each, 1 if is_parquet else 2, file) for each in (raw, texts))
    scanned = canonical(raw, known, columns, reading, piece.name, texts, with_file=of_several)
    in_lines = frozenset([] if is_parquet else [file])
    return replace(scanned, origin=replace(scanned.origin, in_lines=in_lines))


def scan_together(batch: Sequence[Piece], columns: Columns, reading: Reading) -> Scan | None:
    """All rows of small files in one go if each would be read in the same way; else None."""
    piece, places = join(batch)
    raw, texts, known = _scan_csv(piece, columns, of_several=True)
    header = _names(texts)
    roles = columns.resolve([*header, *known.derived, FILE], piece.name, known.columns)
    written = known.complete(texts, header).collect()
    if not are_alike(written, roles, places, _NUMBERS):
        return None
    raw, texts = (places.number(each, ROW) for each in (raw, texts))
    scanned = canonical(raw, known, columns, reading, piece.name, texts, with_file=True)
    origin = replace(scanned.origin, in_lines=frozenset(places.names))
    return replace(scanned, formats={known.name: len(batch)}, origin=origin)


def _numbered(table: pl.LazyFrame, first: int, file: str | None) -> pl.LazyFrame:
    table = table.with_row_index(ROW, offset=first)
    return table if file is None else table.with_columns(pl.lit(file).alias(FILE))


def canonical(
    raw: pl.LazyFrame,
    known: Format,
    columns: Columns,
    reading: Reading,
    source: str,
    texts: pl.LazyFrame | None = None,
    *,
    with_file: bool,
) -> Scan:
    """Convert raw columns, with the number and perhaps the file of each row, to canonical ones.

    ``texts`` are the same columns before any of them was taken as numbers.
    """
    header = [name for name in _names(raw) if name != ROW]
    raw = known.complete(raw, header)
    roles = columns.resolve([*header, *known.derived], source, known.columns)
    _refuse_nested(raw, roles, source)
    sample = _sample(raw, roles, reading, source)
    timezone = reading.timezone or "UTC"
    time = time_expression(sample[str(roles["time"])], reading.time_format, timezone, source)
    values = {"row": pl.col(ROW), **_canonical(sample, roles, time)}
    if with_file:
        values[FILE] = pl.col(FILE)
    table, passed_over = _part(raw, known)
    blank = pl.all_horizontal(pl.col(name).is_null() for name in set(roles.values()) if name)
    table = table.filter(~blank).select(**values)
    written = _written(known.complete(raw if texts is None else texts, header), roles, with_file)
    return Scan(
        table,
        timezone,
        roles,
        {known.name: 1},
        passed_over=passed_over,
        origin=Origin(written=written),
    )


def _written(texts: pl.LazyFrame, roles: Mapping[str, str | None], with_file: bool) -> pl.LazyFrame:
    """The file's own texts of time, position and signal."""
    kinds = texts.collect_schema()
    named = {"time": "time", "lat_deg": "lat", "lon_deg": "lon", "rsrp_dbm": "signal"}
    columns = {name: _text(str(roles[role]), kinds) for name, role in named.items()}
    file = {FILE: pl.col(FILE)} if with_file else {}
    return texts.select(row=pl.col(ROW), **columns, **file)


def _text(column: str, kinds: Mapping[str, pl.DataType]) -> pl.Expr:
    kind = kinds[column]
    has_none = kind.is_nested() or kind in (pl.Duration, pl.Binary, pl.Object)
    return pl.lit(str(kind)) if has_none else pl.col(column).cast(pl.String)


def _refuse_nested(raw: pl.LazyFrame, roles: Mapping[str, str | None], source: str) -> None:
    kinds = raw.collect_schema()
    for role, name in roles.items():
        if name is not None and kinds[name].is_nested():
            raise UserError(
                f"column {shown(name)} of {source} holds a list or a structure in each row, and no "
                f"{role.removesuffix('_column')}; name another with --{role.replace('_', '-')}"
            )


def _sample(
    raw: pl.LazyFrame, roles: Mapping[str, str | None], reading: Reading, source: str
) -> pl.DataFrame:
    if reading.max_accuracy_m is not None and roles["accuracy"] is None:
        raise UserError(
            f"{source} has no column of accuracies; name one with --accuracy COLUMN "
            "or leave --max-accuracy out"
        )
    sample = raw.select(*{name for name in roles.values() if name}).head(SAMPLE_ROWS).collect()
    if sample.is_empty():
        raise UserError(f"{source} has a header and no row; give a file with measurements")
    return sample


def _part(raw: pl.LazyFrame, known: Format) -> tuple[pl.LazyFrame, pl.LazyFrame | None]:
    """The measurements of RSRP, and the kinds of the other rows."""
    kind = known.passed_over
    if kind is None:
        return raw, None
    return raw.filter(kind.is_null()), raw.select(kind.alias("kind")).drop_nulls()


def _scan_csv(
    piece: Piece, columns: Columns, of_several: bool
) -> tuple[pl.LazyFrame, pl.LazyFrame, Format]:
    """The table with plain numbers parsed, the same as texts, and its format."""
    options = dialect(piece)
    piece.check()
    texts = pl.scan_csv(piece.for_polars, **options)
    header = _names(texts)
    known = _recognise(header, Format("CSV"))
    further = [*known.derived, *([FILE] if of_several else [])]
    roles = columns.resolve([*header, *further], piece.name, known.columns)
    names = {name for role in _NUMBERS if (name := roles[role]) in header and name is not None}
    return scan_numbers(piece, options, texts, sorted(names)), texts, known


def _recognise(header: list[str], otherwise: Format) -> Format:
    return next((known for known in KNOWN if known.fits(header)), otherwise)


def _names(table: pl.LazyFrame) -> list[str]:
    return table.collect_schema().names()


def _canonical(
    sample: pl.DataFrame, roles: Mapping[str, str | None], time: pl.Expr
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
