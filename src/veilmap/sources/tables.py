"""Tables with any column names, from CSV (also gzipped) and Parquet files or a document's rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from veilmap.errors import UserError, shown
from veilmap.faults import Origin
from veilmap.measurements import TIMEZONE_KEY, TimezoneBy
from veilmap.sources import parquet
from veilmap.sources.columns import FILE, ROW, Columns, Roles
from veilmap.sources.csv_batching import are_alike, join
from veilmap.sources.csv_text import SAMPLE_ROWS, dialect, scan_numbers
from veilmap.sources.format import Format
from veilmap.sources.piece import Piece
from veilmap.sources.reading import Reading
from veilmap.sources.scan import Scan
from veilmap.sources.table_formats import KNOWN
from veilmap.sources.timestamps import Times, times_of

_NUMBERS = ("lat", "lon", "signal", "accuracy")


@dataclass(frozen=True)
class RawTable:
    """The rows of one file, or of several of one format, in the columns that they have.

    Attributes:
        source: the name in messages.
        known: the format.
        roles: which column plays which role.
        rows: the columns, with plain numbers parsed; then also ``ROW`` and perhaps ``FILE``.
        texts: the same before any column was taken as numbers.
        with_file: whether ``FILE`` says where a row is from.
    """

    source: str
    known: Format
    roles: Roles
    rows: pl.LazyFrame
    texts: pl.LazyFrame
    with_file: bool


def scan(piece: Piece, columns: Columns, reading: Reading, *, of_several: bool) -> Scan:
    """All rows of a file; its type is recognised by the content, not by the name."""
    file = piece.name if of_several else None
    if not piece.head.startswith(parquet.MAGIC):
        raw = _numbered(_raw_csv(piece, columns, of_several), 2, file)  # the header is line 1
        return canonical(raw, reading, in_lines=[file])
    piece = piece.unpacked()
    parquet.refuse_bomb(piece)
    table = parquet.short_texts(pl.scan_parquet(piece.for_polars, glob=False))
    raw = raw_table(piece.name, _recognise(table, "Parquet"), table, columns, of_several)
    own = pl.read_parquet_metadata(piece.for_polars).get(TIMEZONE_KEY)
    raw = _numbered(raw, 1, file)
    if own is None or reading.timezone is not None:
        return canonical(raw, reading)
    return replace(canonical(raw, replace(reading, timezone=own)), timezone_by="file")


def scan_together(batch: Sequence[Piece], columns: Columns, reading: Reading) -> Scan | None:
    """All rows of small files in one go if each would be read in the same way; else None."""
    piece, lines = join(batch)
    raw = _raw_csv(piece, columns, of_several=True)
    written = raw.known.complete(raw.texts).collect()
    if not are_alike(written, raw.roles, lines.height, _NUMBERS):
        return None
    both = (raw.rows, raw.texts)
    rows, texts = (pl.concat([lines.lazy(), each], how="horizontal") for each in both)
    raw = replace(raw, rows=rows, texts=texts)
    return canonical(raw, reading, in_lines=[piece.name for piece in batch], files=len(batch))


def raw_table(
    source: str, known: Format, table: pl.LazyFrame, columns: Columns, with_file: bool
) -> RawTable:
    """Match the columns of a table to their roles."""
    header = [name for name in table.collect_schema() if name != ROW] + [*known.derived]
    if with_file and FILE not in header:
        header.append(FILE)
    roles = columns.resolve(header, source, known.columns)
    return RawTable(source, known, roles, table, table, with_file)


def canonical(
    raw: RawTable, reading: Reading, *, in_lines: Iterable[str | None] = (), files: int = 1
) -> Scan:
    """Convert numbered raw columns to canonical ones; ``in_lines`` is as in ``Origin``."""
    rows, roles, kind = raw.known.complete(raw.rows), raw.roles, raw.known.passed_over
    sample = _sample(rows, roles, reading, raw.source)
    timezone = reading.timezone or "UTC"
    times = times_of(sample[str(roles["time"])], reading.time_format, timezone, raw.source)
    file = {FILE: pl.col(FILE)} if raw.with_file else {}
    blank = pl.all_horizontal(pl.col(name).is_null() for name in set(roles.values()) if name)
    table = (rows if kind is None else rows.filter(kind.is_null())).filter(~blank)
    texts = raw.known.complete(raw.texts)
    return Scan(
        table.select(row=pl.col(ROW), **_canonical(sample, roles, times.utc), **file),
        timezone,
        roles,
        {raw.known.name: files},
        passed_over=None if kind is None else rows.select(kind=kind).drop_nulls(),
        origin=Origin(
            frozenset(in_lines), texts.select(row=pl.col(ROW), **_written(texts, roles), **file)
        ),
        timezone_by=_known_by(reading, times),
    )


def _known_by(reading: Reading, times: Times) -> TimezoneBy:
    if reading.timezone is not None:
        return "given"
    return "position" if times.know_utc else "writing"


def _raw_csv(piece: Piece, columns: Columns, of_several: bool) -> RawTable:
    options = dialect(piece)
    piece.check()
    texts = pl.scan_csv(piece.for_polars, **options)
    raw = raw_table(piece.name, _recognise(texts, "CSV"), texts, columns, of_several)
    numbers = {raw.roles[role] for role in _NUMBERS}
    names = sorted(name for name in texts.collect_schema() if name in numbers)
    return replace(raw, rows=scan_numbers(piece, options, texts, names))


def _recognise(table: pl.LazyFrame, otherwise: str) -> Format:
    header = table.collect_schema()
    return next((known for known in KNOWN if known.fits(header)), Format(otherwise))


def _numbered(raw: RawTable, first: int, file: str | None) -> RawTable:
    rows, texts = (table.with_row_index(ROW, offset=first) for table in (raw.rows, raw.texts))
    if file is not None:
        rows, texts = (table.with_columns(pl.lit(file).alias(FILE)) for table in (rows, texts))
    return replace(raw, rows=rows, texts=texts)


def _sample(rows: pl.LazyFrame, roles: Roles, reading: Reading, source: str) -> pl.DataFrame:
    """The first values of the columns that play a role; refuse those that cannot play it."""
    kinds = rows.collect_schema()
    for role, name in roles.items():
        if name is not None and kinds[name].is_nested():
            raise UserError(
                f"column {shown(name)} of {source} holds a list or a structure in each row, and no "
                f"{role.removesuffix('_column')}; name another with --{role.replace('_', '-')}"
            )
    if reading.max_accuracy_m is not None and roles["accuracy"] is None:
        raise UserError(
            f"{source} has no column of accuracies; name one with --accuracy COLUMN "
            "or leave --max-accuracy out"
        )
    sample = rows.select(*{name for name in roles.values() if name}).head(SAMPLE_ROWS).collect()
    if sample.is_empty():
        raise UserError(f"{source} has a header and no row; give a file with measurements")
    return sample


def _written(texts: pl.LazyFrame, roles: Roles) -> dict[str, pl.Expr]:
    """The file's own texts of time, position and signal."""
    kinds = texts.collect_schema()
    named = {"time": "time", "lat_deg": "lat", "lon_deg": "lon", "rsrp_dbm": "signal"}
    return {name: _text(str(roles[role]), kinds) for name, role in named.items()}


def _text(column: str, kinds: Mapping[str, pl.DataType]) -> pl.Expr:
    kind = kinds[column]
    has_none = kind.is_nested() or kind in (pl.Duration, pl.Binary, pl.Object)
    return pl.lit(str(kind)) if has_none else pl.col(column).cast(pl.String)


def _canonical(sample: pl.DataFrame, roles: Roles, time: pl.Expr) -> dict[str, pl.Expr]:
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
