"""Unpacking with a limit on the output; the size that a packed file declares is not trusted."""

import gzip
import zlib
from collections.abc import Iterator
from typing import IO

from veilmap.errors import UserError

GZIP = b"\x1f\x8b"
# Measurements compress about tenfold, repetitive ones fiftyfold, bombs a thousandfold and more.
FREE_BYTES = 200_000_000
MOST_TIMES = 200
# Members of archives are held in memory.
MOST_BYTES = 4_000_000_000
MOST_MEMBERS = 100_000
CHUNK_BYTES = 1 << 20


class Budget:
    """How many bytes may still come out of one packed file."""

    def __init__(self, name: str, packed_bytes: int, *, is_table: bool = False) -> None:
        self._name = name
        whole = max(FREE_BYTES, MOST_TIMES * packed_bytes)
        # Parquet is read in parts, and users cannot unpack it.
        self._whole = whole if is_table else min(whole, MOST_BYTES)
        self._way_out = "write it as CSV" if is_table else "unpack it yourself"
        self._left = self._whole
        self._members = 0

    def meet_member(self) -> None:
        """Count one more member; even an empty one takes memory and time.

        Raises:
            UserError: there are too many.
        """
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise UserError(
                f"{self._name} holds more than {MOST_MEMBERS:,} files; unpack it yourself and give "
                "the folder"
            )

    def spend(self, unpacked_bytes: int) -> None:
        """Count unpacked bytes.

        Raises:
            UserError: the output is larger than that of any measurements.
        """
        self._left -= unpacked_bytes
        if self._left < 0:
            raise UserError(
                f"{self._name} unpacks to more than {self._whole / 1e6:,.0f} MB, like a "
                "decompression bomb; if the file is genuine, "
                f"{self._way_out} and give what comes out"
            )


class MeteredFile:
    """A file that is read forward, charged to a budget."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile, budget: Budget) -> None:
        self._file, self._budget = file, budget

    def read(self, size: int) -> bytes:
        """The next bytes, at most ``size``."""
        piece = self._file.read(size)
        self._budget.spend(len(piece))
        return piece

    def chunks(self) -> Iterator[bytes]:
        """All bytes, in pieces of ``CHUNK_BYTES``."""
        return iter(lambda: self.read(CHUNK_BYTES), b"")


def gunzip(packed: IO[bytes], name: str, budget: Budget) -> Iterator[bytes]:
    """The content of a gzip file in pieces.

    Raises:
        UserError: it is cut off, broken, or larger than the budget.
    """
    try:
        with gzip.GzipFile(fileobj=packed) as file:
            yield from MeteredFile(file, budget).chunks()
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{name} is a broken gzip file ({error}); pack it again") from error
