"""One file to read: on disk, or an archive member in memory."""

import gzip
import io
import os
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from veilmap.errors import UserError
from veilmap.sources.unpacking import GZIP, Budget, gunzip

HEAD_BYTES = 1 << 16
LARGE_BYTES = 64_000_000


@dataclass(frozen=True)
class Piece:
    """A file by its name within the folder or archive; ``content`` may be why it cannot be read.

    Files gzipped on disk are unpacked here; members of archives come unpacked, with the budget from
    which they were unpacked.
    """

    name: str
    content: Path | bytes | UserError
    budget: Budget | None = None

    def __post_init__(self) -> None:
        # Names on disk may not be UTF-8, which tables require.
        object.__setattr__(self, "name", self.name.encode(errors="replace").decode())

    @cached_property
    def head(self) -> bytes:
        """The first 64 KB, unpacked."""
        with self._open() as file:
            if not self.is_packed:
                return file.read(HEAD_BYTES)
            try:
                return gzip.GzipFile(fileobj=file).read(HEAD_BYTES)
            except (OSError, EOFError, zlib.error) as error:
                raise UserError(
                    f"{self.name} is a broken gzip file ({error}); pack it again"
                ) from error

    @cached_property
    def is_packed(self) -> bool:
        with self._open() as file:
            return isinstance(self.content, Path) and file.read(2) == GZIP

    @property
    def is_large(self) -> bool:
        """Whether it is too large to hold in memory."""
        return isinstance(self.content, Path) and self.content.stat().st_size > LARGE_BYTES

    def read(self) -> bytes:
        """All of it, unpacked."""
        with self.unpacked()._open() as file:
            return file.read()

    def unpacked(self) -> "Piece":
        """The same, in memory if it is packed on disk."""
        if not self.is_packed:
            return self
        with self._open() as file:
            budget = Budget(self.name, os.fstat(file.fileno()).st_size)
            return Piece(self.name, b"".join(gunzip(file, self.name, budget)), budget)

    def check(self) -> None:
        """Read a packed file through once, to check that it is whole and within the budget."""
        if self.is_packed:
            with self._open() as file:
                budget = Budget(self.name, os.fstat(file.fileno()).st_size)
                for _ in gunzip(file, self.name, budget):
                    pass

    @property
    def for_polars(self) -> Path | io.BytesIO:
        # Polars does not take paths that are not UTF-8.
        path = self.content
        if isinstance(path, Path) and str(path).encode(errors="replace") == os.fsencode(path):
            return path
        return io.BytesIO(self.read())

    def _open(self) -> IO[bytes]:
        if isinstance(self.content, UserError):
            raise self.content
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        return self.content.open("rb")
