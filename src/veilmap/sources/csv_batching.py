"""Small CSV files with the same header as one: for polars, a file costs more than its rows.

How a file is read depends on its first rows. So files are batched only if all their rows are plain
and each of them alone would be read in the same way; others are read alone.
"""

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from veilmap.errors import UserError
from veilmap.sources.columns import FILE, ROW, Roles
from veilmap.sources.piece import HEAD_BYTES, Piece

MOST_FILES = 500
_NUMBER = r"^-?\d+(\.\d+)?$"
_PADDED_OR_WHOLE_FLOAT = r"^\s|\s$|^-?\d+\.0$"
# Year, month, day in this order, or seconds or milliseconds since 1970: the shape decides which.
_PLAIN_TIME = r"^(0000-00-00|0000000000$|0000000000000$)"


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


def join(batch: Sequence[Piece]) -> tuple[Piece, pl.DataFrame]:
    """The files of a batch as one file under their common header, and each row's file and line."""
    heads, bodies = zip(*(piece.head.split(b"\n", 1) for piece in batch), strict=True)
    bodies = tuple(body if body.endswith(b"\n") else body + b"\n" for body in bodies)
    counts = [body.count(b"\n") for body in bodies]
    files = pl.DataFrame({FILE: [piece.name for piece in batch], ROW: counts})
    # The header is line 1.
    lines = files.with_columns(pl.int_ranges(2, pl.col(ROW) + 2, dtype=pl.UInt32).alias(ROW))
    joint = Piece(batch[0].name, heads[0] + b"\n" + b"".join(bodies))
    return joint, lines.explode(ROW)


def are_alike(texts: pl.DataFrame, roles: Roles, rows: int, numbers: Sequence[str]) -> bool:
    """Whether every row is so plain that it is read in the same way beside any other rows."""
    if texts.height != rows:
        return False
    names = {role: name for role, name in roles.items() if name is not None and name != FILE}
    time = pl.col(names["time"]).str.replace_all(r"\d", "0")
    plain = [time.n_unique() == 1, time.str.contains(_PLAIN_TIME).all()]
    for role, name in names.items():
        if role in numbers:
            plain.append(pl.col(name).str.contains(_NUMBER).all())
        elif role != "time":
            plain.append(~pl.col(name).str.contains(_PADDED_OR_WHOLE_FLOAT).any())
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
    delimiter = max((b",", b";", b"\t", b"|"), key=header.count)
    width = header.count(delimiter)
    is_straight = all(line.count(delimiter) == width for line in body.splitlines())
    return header if width and is_straight else None
