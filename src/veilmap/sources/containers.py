"""Folders, zip and tar files as the files they hold, in memory; nothing is written to disk."""

import gzip
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Self, cast

from veilmap.errors import UserError, shown
from veilmap.sources.piece import Piece
from veilmap.sources.unpacking import CHUNK_BYTES, GZIP, Budget, MeteredFile, gunzip

_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError,
    RuntimeError,  # compressed by a method that Python does not support
    # Invalid header fields that the libraries do not check.
    UnicodeError, LookupError, OverflowError, struct.error,
)  # fmt: skip

_ENCRYPTED = 1  # a flag of a zip's members
# With other methods the library unpacks in one go, without a limit.
_IN_PIECES = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_LONGEST_NAME = 4096
# Headers before a tar member that give it a long name; they are read into memory.
EXTENSIONS = (
    tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)  # fmt: skip


def files_within(path: Path) -> Iterator[Piece] | None:
    """The files of a folder or archive but for hidden ones; None if the path is another file.

    Raises:
        UserError: an archive is cut off, a bomb, or has members that point outside of it.
    """
    if path.is_dir():
        return _of_folder(path)
    archive = _archive(Piece(path.name, path))
    return archive(path, path.name) if archive else None


def _archive(piece: Piece) -> Callable[[Path, str], Iterator[Piece]] | None:
    if piece.head.startswith((b"PK\3\4", b"PK\5\6")):
        return _of_zip
    return _of_tar if piece.head[257:262] == b"ustar" else None


def _of_folder(folder: Path) -> Iterator[Piece]:
    unlisted: list[OSError] = []
    walk = os.walk(folder, onerror=unlisted.append)
    for path in sorted(Path(place, file) for place, _, files in walk for file in files):
        name = path.relative_to(folder).as_posix()
        if not _is_hidden(name):
            yield from _of_file(path, name, folder)
    for error in unlisted:
        name = Path(error.filename).relative_to(folder).as_posix()
        yield _unreadable(name, f"cannot be listed ({error.strerror}); allow it")


def _of_file(path: Path, name: str, folder: Path) -> Iterator[Piece]:
    """A file of a folder, or the members if it is an archive; errors are kept with the piece."""
    try:
        if not path.is_file():
            raise UserError(f"{name} is not a regular file; leave it out of the folder")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UserError(f"{name} is a link that leads out of the folder; copy the file there")
        archive = _archive(Piece(name, path))
        # An archive is taken as a whole: all members are read before the first is used.
        members = [Piece(name, path)] if archive is None else [*archive(path, name)]
        for piece in members:
            yield piece if archive is None else replace(piece, name=f"{name}/{piece.name}")
    except (UserError, OSError) as error:
        fault = error if isinstance(error, UserError) else UserError(f"{name}: {error.strerror}")
        yield Piece(name, fault)


def _of_zip(path: Path, name: str) -> Iterator[Piece]:
    budget = Budget(name, path.stat().st_size)
    try:
        archive = zipfile.ZipFile(path)
    except (*_BROKEN, ValueError) as error:
        raise UserError(f"{name} is a broken zip file ({error}); pack it again") from error
    with archive:
        members = [each for each in archive.infolist() if not each.filename.endswith("/")]
        for member in members:
            budget.meet_member()
            is_link = stat.S_ISLNK(member.external_attr >> 16)
            _refuse_hostile(member.filename, name, "a link" if is_link else "")
        for member in members:
            if not _is_hidden(member.filename):
                yield _zip_member(archive, member, budget)


def _zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: Budget) -> Piece:
    name = member.filename
    if member.flag_bits & _ENCRYPTED:
        return _unreadable(name, "is encrypted; unpack it with its password first")
    if member.compress_type not in _IN_PIECES:
        return _unreadable(name, "is packed in a rare way; pack it as plain zip does")
    try:
        with archive.open(member) as file:
            content = b"".join(MeteredFile(file, budget).chunks())
    except UserError:
        raise
    except (*_BROKEN, ValueError) as error:
        return _unreadable(name, f"is broken in the zip ({error}); pack it again")
    return _member(name, content, budget)


def _of_tar(path: Path, name: str) -> Iterator[Piece]:
    budget = Budget(name, path.stat().st_size)
    with path.open("rb") as packed:
        is_packed = packed.read(2) == GZIP
        packed.seek(0)
        unpacked = MeteredFile(gzip.GzipFile(fileobj=packed) if is_packed else packed, budget)
        stream = cast("IO[bytes]", unpacked)
        try:
            with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive:
                yield from _tar_members(archive, name, budget)
                _refuse_unfinished(cast("IO[bytes]", archive.fileobj))
        except _BROKEN as error:
            raise UserError(
                f"{name} is a broken or cut tar file ({error}); pack it again"
            ) from error


class _Member(tarfile.TarInfo):
    """A header; one that declares a name of megabytes is refused before they are read."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in EXTENSIONS and header.size > CHUNK_BYTES:
            raise tarfile.ReadError(f"a header of {header.size:,} bytes")
        return header


def _tar_members(archive: tarfile.TarFile, name: str, budget: Budget) -> Iterator[Piece]:
    for member in archive:
        budget.meet_member()
        is_plain = (member.isreg() and not member.issparse()) or member.isdir()
        _refuse_hostile(member.name, name, "" if is_plain else "a link, device or sparse file")
        file = archive.extractfile(member)
        if file is not None and not _is_hidden(member.name):
            yield _member(str(PurePosixPath(member.name)), file.read(), budget)


def _refuse_unfinished(rest: IO[bytes]) -> None:
    """A tar ends in zeros; the library also takes a broken or missing header for the end."""
    are_zeros = [not chunk.strip(b"\0") for chunk in iter(lambda: rest.read(CHUNK_BYTES), b"")]
    if not are_zeros or not all(are_zeros):
        raise tarfile.ReadError("it does not end as a tar does")


def _member(name: str, content: bytes, budget: Budget) -> Piece:
    if content.startswith(GZIP):
        try:
            content = b"".join(gunzip(BytesIO(content), name, budget))
        except UserError as error:
            if isinstance(error.__cause__, EOFError | OSError | zlib.error):
                return Piece(name, error)
            raise  # a bomb concerns the whole archive
    piece = Piece(name, content, budget)
    if _archive(piece) is None:
        return piece
    return _unreadable(name, "is an archive inside an archive; unpack it first")


def _unreadable(name: str, why: str) -> Piece:
    return Piece(name, UserError(f"{name} {why}"))


def _refuse_hostile(member: str, archive: str, kind: str) -> None:
    parts = re.split(r"[/\\]", member)
    if ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:", member):
        kind = "a path that leads out of the archive"
    if len(member) > _LONGEST_NAME:
        kind = f"a name of {len(member):,} characters"
    if kind:
        raise UserError(
            f"{archive} holds {shown(member)}, {kind}; such an archive is not read: "
            "pack the measurement files alone"
        )


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts)
