"""The text of CSV files: encoding, line ends, delimiter, and whether columns are aligned."""

import codecs
import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from veilmap.errors import UserError, shown
from veilmap.sources.piece import HEAD_BYTES, Piece

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_ROWS = 1000


def dialect(piece: Piece) -> dict[str, Any]:
    """How polars is to read the file.

    Raises:
        UserError: the first 64 KB show that it is not CSV, or would be misread.
    """
    text = _decode(piece)
    header_line = text.splitlines()[0]
    delimiter = max(DELIMITERS, key=header_line.count)
    if delimiter not in header_line:
        raise UserError(
            f"{piece.name} is not a table: it has a single column; columns must be separated by a "
            "comma, semicolon, tab or '|' and named in the first line"
        )
    _refuse_bad_header(header_line, delimiter, piece.name)
    _refuse_shifted(text, delimiter, piece.name)
    return {
        "separator": delimiter,
        "infer_schema": False,
        "truncate_ragged_lines": True,
        "encoding": "utf8-lossy",
        "glob": False,
    }


def scan_numbers(
    piece: Piece, options: Mapping[str, Any], texts: pl.LazyFrame, names: Sequence[str]
) -> pl.LazyFrame:
    """The columns ``names`` as numbers if they are written plainly; the others as texts."""
    sample = texts.select(names).head(SAMPLE_ROWS).collect()
    if any(sample[name].str.contains(r"^\s|\s$").any() for name in names):
        return texts  # padded numbers are stripped later, which is slower
    return pl.scan_csv(
        piece.for_polars,
        schema_overrides=dict.fromkeys(names, pl.Float64),
        # What is not a number becomes null, and so a counted fault.
        ignore_errors=True,
        decimal_comma=any(sample[name].str.contains(r"^-?\d+,\d+$").any() for name in names),
        **options,
    )


def _decode(piece: Piece) -> str:
    start, name = piece.head.removeprefix(codecs.BOM_UTF8), piece.name
    if not start.strip():
        raise UserError(f"{name} is empty; give a file with a header line and measurements")
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(
            f"{name} is UTF-16 text (from line 1 on); convert it, for example with: "
            f"iconv -f utf-16 -t utf-8 {name}"
        )
    if b"\0" in start:
        raise UserError(
            f"{name} is neither text nor Parquet; give a measurement file (CSV, Parquet, XML, "
            "JSON), or a zip, tar or tar.gz of them"
        )
    try:
        # Incremental, because the head of a longer file may end in the middle of a character.
        is_whole = len(piece.head) < HEAD_BYTES
        text = codecs.getincrementaldecoder("utf-8")().decode(start, is_whole)
    except UnicodeDecodeError as error:
        line = start.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{name} is not UTF-8 text (byte {error.start:,}, line {line:,}); convert it, for "
            f"example with: iconv -f latin1 -t utf-8 {name}"
        ) from None
    if "\r" in text and "\n" not in text:
        raise UserError(
            f"{name} ends its lines as old Macs did (a lone CR, from line 1 on); convert it, for "
            f"example with: tr '\\r' '\\n' < {name}"
        )
    return text


def _refuse_bad_header(header_line: str, delimiter: str, name: str) -> None:
    """Duplicate names, or data in the first line, which is not shown: it may hold a position."""
    names = [field.strip() for field in next(csv.reader([header_line], delimiter=delimiter))]
    twice = next((each for each in names if each and names.count(each) > 1), None)
    if twice is not None:
        raise UserError(
            f"{name} has two columns named {shown(twice)}; rename or remove one of them"
        )
    if sum(bool(re.fullmatch(r"-?\d+\.\d+", each)) for each in names) >= 2:
        raise UserError(
            f"{name} has numbers where the names of columns belong; put a header line before it"
        )


def _refuse_shifted(text: str, delimiter: str, name: str) -> None:
    """Extra fields are allowed if they are empty, as G-NetTrack's are."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    width = len(next(lines))
    for fields in lines:
        if any(field.strip() for field in fields[width:]):
            raise UserError(
                f"{name} has {len(fields)} fields in line {lines.line_num:,} and {width} in its "
                "header, so the columns are shifted; write decimal points in place of decimal "
                "commas, or separate the columns by semicolons or tabs"
            )
