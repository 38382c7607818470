"""Read all files of a path, each by its format, into one table."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.errors import UserError
from veilmap.faults import Origin
from veilmap.sources import geosubmit, radiocells, tables
from veilmap.sources.columns import FILE, Columns
from veilmap.sources.containers import is_container, pieces
from veilmap.sources.csv_batching import batches
from veilmap.sources.format import Document
from veilmap.sources.piece import Piece
from veilmap.sources.reading import Reading
from veilmap.sources.scan import Scan, collected, readable
from veilmap.wording import counted

# The first character of a document → its reader; anything else is a table.
DOCUMENTS: dict[bytes, Document] = {b"<": radiocells, b"{": geosubmit, b"[": geosubmit}
_BOM = b"\xef\xbb\xbf"
_SHOWN = 3


def gather(path: Path, columns: Columns, reading: Reading) -> Scan:
    """The rows of a file, or of all files of a folder or archive.

    Raises:
        UserError: a file cannot be read and ``keep_going`` is off, or none can.
    """
    several = is_container(path)
    found = Gathered(columns, reading, several)
    left_out = []
    for piece in found.add_together(batches(pieces(path))) if several else pieces(path):
        try:
            with readable(piece.name):
                found.add(piece)
        except UserError as error:
            if not several:
                raise
            if not reading.keep_going:
                raise UserError(f"{path.name}: {error}; --keep-going reads the others") from error
            left_out.append((piece.name, _reason(piece.name, error)))
    scans = found.conclude(path.name)
    if not scans:
        raise _nothing(path, left_out)
    return _together(scans, tuple(left_out))


class Gathered:
    """The content of the files read so far: tables, and rows of documents (many and small)."""

    def __init__(self, columns: Columns, reading: Reading, several: bool) -> None:
        self._columns, self._reading, self._several = columns, reading, several
        self._tables: list[Scan] = []
        self._rows: dict[Document, list[tuple[Any, ...]]] = {}
        self._files: dict[Document, list[str]] = {}
        self._counts: Counter[Document] = Counter()

    def add(self, piece: Piece) -> None:
        start = piece.head.removeprefix(_BOM).lstrip()[:1]
        document = DOCUMENTS.get(start)
        if document is None:
            self._tables.append(self._table(piece))
            return
        rows = document.parse(piece.read(), piece.name)
        self._rows.setdefault(document, []).extend(rows)
        self._files.setdefault(document, []).extend([piece.name] * len(rows))
        self._counts[document] += 1

    def add_together(self, groups: Iterable[list[Piece]]) -> Iterator[Piece]:
        """Add the files that can be read in one go; return those that must be read alone."""
        for batch in groups:
            scan = self._together(batch) if len(batch) > 1 else None
            if scan is None:
                yield from batch
            else:
                self._tables.append(scan)

    def _together(self, batch: list[Piece]) -> Scan | None:
        try:
            with readable(batch[0].name):
                scan = tables.scan_together(batch, self._columns, self._reading)
                if scan is None:
                    return None
                table = collected(scan.table, batch[0].name)
                passed_over = _read(scan.passed_over)
        except UserError:
            return None  # reading each by itself shows which one it is
        if _lacking(table).height:
            return None
        origin = replace(scan.origin, written=None)
        return replace(scan, table=table.lazy(), passed_over=passed_over, origin=origin)

    def conclude(self, source: str) -> list[Scan]:
        return [*self._tables, *(self._document(each, source) for each in self._rows)]

    def _table(self, piece: Piece) -> Scan:
        scan = tables.scan(piece, self._columns, self._reading, of_several=self._several)
        if not self._several:
            return scan
        if piece.is_large:
            # Read through once, so that damage deep inside is reported for this file.
            scan.table.select(pl.all().null_count()).collect(engine="streaming")
            return scan
        # Read at once, so that the text need not be kept.
        passed_over = _read(scan.passed_over)
        table = collected(scan.table, piece.name)
        origin = replace(scan.origin, written=_unread(table, scan.origin.written))
        return replace(scan, table=table.lazy(), passed_over=passed_over, origin=origin)

    def _document(self, document: Document, source: str) -> Scan:
        columns = dict(zip(document.SCHEMA, zip(*self._rows[document], strict=True), strict=True))
        raw = pl.DataFrame(columns, schema=document.SCHEMA).rename({"row": tables.ROW})
        raw = raw.with_columns(pl.Series(FILE, self._files[document]))
        with_file = self._several or document.FORMAT.one_file_per_upload
        known, reading = document.FORMAT, self._reading
        scan = tables.canonical(
            raw.lazy(), known, self._columns, reading, source, with_file=with_file
        )
        lines = self._files[document] if document is radiocells else ()
        origin = replace(scan.origin, in_lines=frozenset(lines))
        return replace(scan, formats={known.name: self._counts[document]}, origin=origin)


def _unread(table: pl.DataFrame, written: pl.LazyFrame | None) -> pl.LazyFrame | None:
    """The rows of the file that lack a value; usually there are none."""
    rows = _lacking(table)["row"]
    if written is None or rows.is_empty():
        return None
    return written.filter(pl.col("row").is_in(rows.implode())).collect().lazy()


def _read(table: pl.LazyFrame | None) -> pl.LazyFrame | None:
    return None if table is None else table.collect().lazy()


def _lacking(table: pl.DataFrame) -> pl.DataFrame:
    values = pl.col("time", "lat_deg", "lon_deg", "rsrp_dbm")
    return table.filter(pl.any_horizontal(values.is_null()))


def _together(scans: list[Scan], left_out: tuple[tuple[str, str], ...]) -> Scan:
    first = scans[0]
    clocks = sorted({scan.timezone for scan in scans})
    if len(clocks) > 1:
        raise UserError(
            f"the files have different clocks ({', '.join(clocks)}), and days begin by one; "
            "choose it with --timezone"
        )
    formats: Counter[str] = Counter()
    for scan in scans:
        formats.update(scan.formats)
    written = [scan.origin.written for scan in scans if scan.origin.written is not None]
    others = [scan.passed_over for scan in scans if scan.passed_over is not None]
    return Scan(
        table=pl.concat([scan.table for scan in scans]),
        timezone=first.timezone,
        roles=first.roles if all(scan.roles == first.roles for scan in scans) else {},
        formats=formats,
        left_out=left_out,
        passed_over=pl.concat(others) if others else None,
        origin=Origin(
            in_lines=frozenset().union(*(scan.origin.in_lines for scan in scans)),
            written=pl.concat(written) if written else None,
        ),
    )


def _reason(name: str, error: UserError) -> str:
    """The message without the file name, which stands beside it, and without the way out."""
    return re.sub(rf"^{re.escape(name)}:? (is )?", "", str(error)).split("; ")[0]


def _nothing(path: Path, left_out: list[tuple[str, str]]) -> UserError:
    if not left_out:
        return UserError(f"{path.name} holds no file; give one with measurement files")
    named = "; ".join(f"{file}: {reason}" for file, reason in left_out[:_SHOWN])
    more = "; …" if len(left_out) > _SHOWN else ""
    return UserError(
        f"cannot read {counted(len(left_out), 'file')} of {path.name} ({named}{more}); "
        "give measurement files"
    )
