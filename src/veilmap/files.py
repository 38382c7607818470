"""Files that are either whole or not there."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from veilmap.errors import UserError

# What has positions of people in it, or what they can be found from, is for its owner alone.
PRIVATE = 0o600
OPEN = 0o666


def refuse_taken(path: Path, overwrite: bool) -> None:
    """Raise if something is at ``path`` already and must not be replaced."""
    if path.exists() and not overwrite:
        raise UserError(f"{path} is already there; choose another --out or say --overwrite")


def write_whole(path: Path, content: bytes, mode: int = OPEN) -> None:
    """Write ``content`` under a temporary name, flush it to the disk, then rename.

    A reader, or the same command after a crash, never meets a half-written file. ``mode`` is less
    the user's mask, and given when the file is made: changed afterwards, a secret would be
    readable for a moment.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException as error:  # also an interrupt must not leave a part behind
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UserError(
                f"cannot write {path}: {error.strerror or error}; choose another place for it"
            ) from error
        raise


def write_json(path: Path, content: dict[str, Any], mode: int = OPEN) -> None:
    """Indented, with a line feed at the end; NaN and infinity are no JSON and an error."""
    write_whole(path, json.dumps(content, indent=2, allow_nan=False).encode() + b"\n", mode)


def parse_json(text: str | bytes) -> Any:
    """What a JSON text says.

    Raises:
        ValueError: it is broken; nested too deeply to be read is broken too.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
