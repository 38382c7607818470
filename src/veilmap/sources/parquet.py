"""The unpacked size of a Parquet file, from its page headers, before any page is unpacked.

Equal values are stored once with their number, so half a billion rows fit in kilobytes. The sizes
in the file's index are not trusted, since the table reader uses those of the pages. Structures and
the numbers of their fields are those of https://github.com/apache/parquet-format.
"""

import mmap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.errors import UserError
from veilmap.sources.piece import Piece
from veilmap.sources.thrift import Bytes, Cursor
from veilmap.sources.unpacking import Budget

MAGIC = b"PAR1"
LONGEST_TEXT = 1000
# What memory is taken by a row as measurement and by a value that is not the only one of its row;
# and a page's header, for the time it takes.
_ROW_BYTES, _VALUE_BYTES, _PAGE_BYTES = 80, 8, 1000
MOST_INDEX_BYTES = 16_000_000
_DEEPEST = 32
_DICTIONARY = 2  # a kind of page
# DELTA_BYTE_ARRAY: a text by what it shares with the one before, so that a page of kilobytes may
# hold gigabytes, and only unpacking shows it.
RARE_ENCODINGS = (7,)


def refuse_bomb(piece: Piece) -> None:
    """Charge the unpacked size of a Parquet file to the budget.

    Raises:
        UserError: that is more than any measurements would give, or the file is broken.
    """
    with _content(piece) as content:
        budget = piece.budget or Budget(piece.name, len(content), is_table=True)
        try:
            index = _index(content)
            _refuse_deep(index[2])
            for row_group in index.get(4, []):
                rows = _counted(row_group[3])
                budget.spend(rows * _ROW_BYTES)
                for column in row_group[1]:
                    for page_bytes in _pages(content, column[3], rows):
                        budget.spend(page_bytes)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            if isinstance(error, UserError):
                raise
            why = error if isinstance(error, ValueError) else "its index lacks a part"
            raise UserError(
                f"{piece.name} is a broken Parquet file ({why}); write it again"
            ) from error


def short_texts(table: pl.LazyFrame) -> pl.LazyFrame:
    """Take long texts as missing: stored once in the file, they would fill every row of a table."""
    return table.with_columns(
        pl.when(size <= LONGEST_TEXT).then(pl.col(name)).alias(name)
        for name, kind in table.collect_schema().items()
        if (size := _size(name, kind)) is not None
    )


def _size(name: str, kind: pl.DataType) -> pl.Expr | None:
    if kind == pl.String:
        return pl.col(name).str.len_bytes()
    if kind == pl.Binary:
        return pl.col(name).bin.size()
    return pl.col(name).cat.len_bytes() if kind in (pl.Categorical, pl.Enum) else None


@contextmanager
def _content(piece: Piece) -> Iterator[Bytes]:
    if not isinstance(piece.content, Path):
        yield piece.read()
        return
    with (
        piece.content.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        yield mapped


def _index(content: Bytes) -> Mapping[int, Any]:
    """FileMetaData: 2 the schema, 4 the row groups (each 1 its columns, 3 its number of rows)."""
    end = len(content) - 8  # its length and the magic
    size = int.from_bytes(content[end : end + 4], "little") if end > 0 else 0
    if not 0 < size <= end:
        raise ValueError("it is cut off")
    if size > MOST_INDEX_BYTES:
        raise ValueError(f"its index has {size:,} bytes")
    return Cursor(content, end - size, end).struct()


def _refuse_deep(schema: list[Mapping[int, Any]]) -> None:
    """The schema is a tree, parents first; 5 is the number of an element's children."""
    open_children: list[int] = []
    for element in schema:
        while open_children and open_children[-1] == 0:
            open_children.pop()
        if open_children:
            open_children[-1] -= 1
        open_children.append(element.get(5, 0))
        if len(open_children) > _DEEPEST:
            raise ValueError(f"its columns nest more than {_DEEPEST} deep")


def _pages(content: Bytes, column: Mapping[int, Any], rows: int) -> Iterator[int]:
    """The size of each page of a column; nested columns have more values than rows.

    ColumnMetaData: 7 its bytes, 9 its first data page, 11 its dictionary; PageHeader: 1 the kind,
    2 the bytes unpacked, 3 packed, 5 or 8 a data page's own header (1 its values, 2 or 4 their
    encoding), 7 a dictionary's (1 its values).
    """
    at = column.get(11) or column[9]
    end = at + column[7]
    values = 0
    while at < end:
        cursor = Cursor(content, at, end)
        page = cursor.struct()
        if page[1] == _DICTIONARY:
            yield _counted(page[7][1]) * _VALUE_BYTES
        else:
            header, encoding = (page[5], 2) if 5 in page else (page[8], 4)
            if header[encoding] in RARE_ENCODINGS:
                raise ValueError("texts are packed by what they share; pack them plainly")
            values += _counted(header[1])
        at = cursor.at + _counted(page[3])
        yield _counted(page[2]) + _PAGE_BYTES
    yield max(values - rows, 0) * _VALUE_BYTES


def _counted(number: int) -> int:
    """A number of rows, values or bytes; the table reader takes a negative one as huge."""
    if number < 0:
        raise ValueError(f"a part of it has {number:,} values or bytes")
    return number
