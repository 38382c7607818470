"""Read all files of a path, each by its format, into one table."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.errors import UserError
from veilmap.faults import Origin
from veilmap.measurements import TimezoneBy
from veilmap.sources import geosubmit, radiocells, tables
from veilmap.sources.columns import FILE, ROW, Columns
from veilmap.sources.containers import files_within
from veilmap.sources.csv_batching import batches
from veilmap.sources.format import Document
from veilmap.sources.piece import Piece
from veilmap.sources.reading import Reading
from veilmap.sources.scan import Scan, in_memory, readable
from veilmap.wording import counted, listed

# The first character of a document → its reader; anything else is a table.
DOCUMENTS: dict[bytes, Document] = {b"<": radiocells, b"{": geosubmit, b"[": geosubmit}
_BOM = b"\xef\xbb\xbf"
_SHOWN = 3


def gather(path: Path, columns: Columns, reading: Reading) -> Scan:
    """The rows of a file, or of all files of a folder or archive.

    Raises:
        UserError: a file cannot be read and ``keep_going`` is off, or none can.
    """
    files = files_within(path)
    several = files is not None
    reader = PieceReader(columns, reading, several)
    left_out = []
    alone = [Piece(path.name, path)] if files is None else reader.add_together(batches(files))
    for piece in alone:
        try:
            with readable(piece.name):
                reader.add(piece)
        except UserError as error:
            if not several:
                raise
            if not reading.keep_going:
                raise UserError(f"{path.name}: {error}; --keep-going reads the others") from error
            left_out.append((piece.name, _reason(piece.name, error)))
    scans = reader.conclude(path.name)
    if not scans:
        raise _nothing(path, left_out)
    return _joined(scans, tuple(left_out))


class PieceReader:
    """Reads files one by one; keeps tables, and the rows of documents (many and small)."""

    def __init__(self, columns: Columns, reading: Reading, several: bool) -> None:
        self._columns, self._reading, self._several = columns, reading, several
        self._tables: list[Scan] = []
        self._rows: defaultdict[Document, list[tuple[Any, ...]]] = defaultdict(list)
        self._files: defaultdict[Document, list[str]] = defaultdict(list)
        self._counts: Counter[Document] = Counter()

    def add(self, piece: Piece) -> None:
        start = piece.head.removeprefix(_BOM).lstrip()[:1]
        document = DOCUMENTS.get(start)
        if document is None:
            self._tables.append(self._table(piece))
            return
        rows = document.parse(piece.read(), piece.name)
        self._rows[document] += rows
        self._files[document] += [piece.name] * len(rows)
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
                scan = in_memory(scan, batch[0].name)
        except UserError:
            return None  # reading each by itself shows which one it is
        return scan if scan.origin.written is None else None

    def conclude(self, source: str) -> list[Scan]:
        return [*self._tables, *(self._document(each, source) for each in self._rows)]

    def _table(self, piece: Piece) -> Scan:
        scan = tables.scan(piece, self._columns, self._reading, of_several=self._several)
        if self._several and piece.is_large:
            # Read through once, so that damage deep inside is reported for this file.
            scan.table.select(pl.all().null_count()).collect(engine="streaming")
        elif self._several:
            return in_memory(scan, piece.name)
        return scan

    def _document(self, document: Document, source: str) -> Scan:
        columns = dict(
            zip(document.COLUMN_TYPES, zip(*self._rows[document], strict=True), strict=True)
        )
        table = pl.DataFrame(columns, schema=document.COLUMN_TYPES).rename({"row": ROW})
        table = table.with_columns(pl.Series(FILE, self._files[document]))
        known = document.FORMAT
        with_file = self._several or known.one_file_per_upload
        raw = tables.raw_table(source, known, table.lazy(), self._columns, with_file)
        lines = self._files[document] if document is radiocells else ()
        return tables.canonical(raw, self._reading, in_lines=lines, files=self._counts[document])


def _joined(scans: list[Scan], left_out: tuple[tuple[str, str], ...]) -> Scan:
    first = scans[0]
    # Where points in time are known, the others' clock serves.
    clocked = [scan for scan in scans if scan.timezone_by != "position"]
    clocks = sorted({scan.timezone for scan in clocked})
    if len(clocks) > 1:
        raise UserError(
            f"the files have different clocks ({', '.join(clocks)}), and days begin by one; "
            "choose it with --timezone"
        )
    written = [scan.origin.written for scan in scans if scan.origin.written is not None]
    others = [scan.passed_over for scan in scans if scan.passed_over is not None]
    return Scan(
        table=pl.concat([scan.table for scan in scans]),
        timezone=(clocked or scans)[0].timezone,
        roles=first.roles if all(scan.roles == first.roles for scan in scans) else {},
        formats=sum((Counter(scan.formats) for scan in scans), Counter()),
        left_out=left_out,
        timezone_by=_known_by({scan.timezone_by for scan in scans}),
        passed_over=pl.concat(others) if others else None,
        origin=Origin(
            in_lines=frozenset().union(*(scan.origin.in_lines for scan in scans)),
            written=pl.concat(written) if written else None,
        ),
    )


def _known_by(ways: set[TimezoneBy]) -> TimezoneBy:
    """Of files with the same clock: the position tells it only if it does for all of them."""
    order: tuple[TimezoneBy, ...] = ("given", "writing", "file", "position")
    return next(way for way in order if way in ways)


def _reason(name: str, error: UserError) -> str:
    """The message without the file name, which stands beside it, and without the way out."""
    return re.sub(rf"^{re.escape(name)}:? (is )?", "", str(error)).split("; ")[0]


def _nothing(path: Path, left_out: list[tuple[str, str]]) -> UserError:
    if not left_out:
        return UserError(f"{path.name} holds no file; give one with measurement files")
    named = listed([f"{file}: {reason}" for file, reason in left_out], _SHOWN, "; ")
    return UserError(
        f"cannot read {counted(len(left_out), 'file')} of {path.name} ({named}); "
        "give measurement files"
    )
