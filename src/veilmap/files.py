"""Atomic writes: a file is either complete or absent."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from math import isinf
from pathlib import Path
from typing import Any

from veilmap.errors import UserError, cannot_write

# For files with people's positions, or from which these can be recovered: owner only.
PRIVATE = 0o600
OPEN = 0o666
_LONGEST_WHOLE = 20  # of a node's number, below 2^64
_PART = re.compile(r"\..+\.\d+\.part")


def refuse_taken(path: Path, overwrite: bool) -> None:
    """Raise if something is at ``path`` already and must not be replaced."""
    if path.exists() and not overwrite:
        raise UserError(f"{path} already exists; choose another --out or add --overwrite")


def write_whole(path: Path, content: bytes, mode: int = OPEN) -> None:
    """Write ``content`` under a temporary name, flush it to the disk, then rename.

    A reader, or the same command after a crash, never meets a half-written file. ``mode``, less
    the user's mask, is set at creation: if it were changed later, a secret would be readable for
    a moment.
    """
    with written({path: content}, mode):
        pass


@contextmanager
def written(contents: Mapping[Path, bytes], mode: int = OPEN) -> Iterator[None]:
    """Write all files under temporary names; rename them after the block.

    The block removes what they replace: on a full disk it is not reached, and the old files stay.
    Files are renamed in the order of ``contents``, so that the last can mark the others as whole.
    """
    parts = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in contents}
    path = next(iter(contents), Path())
    try:
        for path, part in parts.items():
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(part, contents[path], mode)
        with writing(path):
            yield
        rename({part: path for path, part in parts.items()})
    except BaseException:  # an interrupt must not leave a partial file either
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)
        raise


@contextmanager
def writing(what: Path) -> Iterator[None]:
    """Turn every failed write in the block into the same ``UserError``."""
    try:
        yield
    except OSError as error:
        raise cannot_write(what, error, "choose another place for it") from error


def rename(names: Mapping[Path, Path]) -> None:
    """Rename files one after the other, and flush their folders to the disk."""
    for old, new in names.items():
        with writing(new):
            old.replace(new)
    for folder in dict.fromkeys(new.parent for new in names.values()):
        _flush(folder)


def remove(paths: Iterable[Path]) -> None:
    """Remove the files that are there."""
    for path in paths:
        with writing(path):
            path.unlink(missing_ok=True)


def remove_parts(folder: Path, of: str | None = None) -> None:
    """Remove the temporary files that killed processes left, or only those of the file ``of``.

    Only for the process that holds the folder: another would lose what it is writing.
    """
    parts = folder.glob(f".{'*' if of is None else escape(of)}.*.part")
    remove(part for part in parts if _PART.fullmatch(part.name))


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write indented JSON with a final line feed; NaN and infinity are not JSON and an error."""
    write_whole(path, json_bytes(content))


def json_bytes(content: dict[str, Any]) -> bytes:
    """The bytes that ``write_json`` writes."""
    return json.dumps(content, indent=2, allow_nan=False).encode() + b"\n"


def parse_json(text: str | bytes) -> Any:
    """The content of a JSON text.

    Raises:
        ValueError: it is malformed, nested too deeply, or has a number that is not finite or has
            too many digits.
    """
    try:
        return json.loads(
            text, parse_int=_whole, parse_float=_finite, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:_LONGEST_WHOLE]} is too large for a number")
    return number


def _whole(text: str) -> int:
    # Python reads thousands of digits, and fails where they become a float.
    if len(text) > _LONGEST_WHOLE:
        raise ValueError(f"it has a number of {len(text):,} digits")
    return int(text)


def _write(path: Path, content: bytes, mode: int) -> None:
    with open(path, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush(folder: Path) -> None:
    """Makes renames survive a power cut; Windows and some file systems have no such call."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
