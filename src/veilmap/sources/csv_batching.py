"""Small CSV files with the same header as one: for polars, a file costs more than its rows.

How a file is read depends on its first rows. So files are batched only if all their rows are plain
and each of them alone would be read in the same way; others are read alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from veilmap.errors import UserError
from veilmap.sources.columns import FILE
from veilmap.sources.piece import HEAD_BYTES, Piece

MOST_FILES = 500
_NUMBER = r"^-?\d+(\.\d+)?$"
_WHOLE_FLOAT = r"^-?\d+\.0$"
_EDGE = r"^\s|\s$"
# Year, month, day in this order, or seconds or milliseconds since 1970: the shape tells which.
_PLAIN_TIME = r"^(0000-00-00|0000000000$|0000000000000$)"


@dataclass(frozen=True)
class Places:
    """The file of each row of the joint table: the number of rows of each file, in order."""

    names: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def rows(self) -> int:
        return sum(self.counts)

    def number(self, table: pl.LazyFrame, row: str) -> pl.LazyFrame:
        """Add the file of each row and its line there; the header is line 1."""
        files = pl.LazyFrame({FILE: self.names, row: self.counts})
        lines = files.with_columns(pl.int_ranges(2, pl.col(row) + 2, dtype=pl.UInt32).alias(row))
        return pl.concat([lines.explode(row), table], how="horizontal")


def batches(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Group consecutive files that may be read together; others stay alone."""
    waiting: list[Piece] = []
    common: bytes | None = None
    for piece in pieces:
        header = _header(piece)
        if waiting and (header is None or header != common or len(waiting) == MOST_FILES):
            yield waiting
            waiting = []
        waiting.append(piece)
        common = header
    if waiting:
        yield waiting


def join(batch: Sequence[Piece]) -> tuple[Piece, Places]:
    """The files of a batch as one file under their common header."""
    heads, bodies = zip(*(piece.head.split(b"\n", 1) for piece in batch), strict=True)
    bodies = tuple(body if body.endswith(b"\n") else body + b"\n" for body in bodies)
    counts = tuple(body.count(b"\n") for body in bodies)
    places = Places(tuple(piece.name for piece in batch), counts)
    return Piece(batch[0].name, b"\n".join([heads[0], b"".join(bodies)])), places


def are_alike(
    texts: pl.DataFrame, roles: Mapping[str, str | None], places: Places, numbers: Sequence[str]
) -> bool:
    """Whether every row is so plain that it is read in the same way in any company."""
    if texts.height != places.rows:
        return False
    names = {role: name for role, name in roles.items() if name is not None and name != FILE}
    plain = [pl.col(names["time"]).str.replace_all(r"\d", "0").n_unique() == 1]
    plain += [pl.col(names["time"]).str.replace_all(r"\d", "0").str.contains(_PLAIN_TIME).all()]
    for role in numbers:
        if role in names:
            plain += [pl.col(names[role]).str.contains(_NUMBER).all()]
    for role in ("user", "cell_column"):
        if role in names:
            column = pl.col(names[role]).str
            plain += [~(column.contains(_EDGE) | column.contains(_WHOLE_FLOAT)).any()]
    return bool(texts.select(pl.all_horizontal(plain)).item())


def _header(piece: Piece) -> bytes | None:
    """The first line of a plain and small CSV, which may be batched; else None."""
    try:
        content = piece.head
    except (UserError, OSError):
        return None
    header, _, body = content.partition(b"\n")
    is_whole = len(content) < HEAD_BYTES and not (piece.is_packed or piece.is_large)
    is_plain = content.isascii() and not any(sign in content for sign in (b'"', b"\r", b"\0"))
    if not (is_whole and is_plain and body and header[:1].isalpha()):
        return None
    widths = {sign: header.count(sign) for sign in (b",", b";", b"\t", b"|")}
    sign = max(widths, key=lambda each: widths[each])
    is_straight = all(line.count(sign) == widths[sign] for line in body.splitlines())
    return header if widths[sign] and is_straight else None
