"""Files and folders that only their owner may read."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veilmap.errors import UserError
from veilmap.files import write_whole


def private_folder(path: Path) -> Path:
    """Make the folder, readable by its owner alone; leave one that is there as it is."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot make the folder {path}: {error.strerror}; choose another place for it"
        ) from error
    return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, into a folder that is there."""
    if not path.parent.is_dir():
        # Made on the way it would be open to all.
        raise UserError(f"cannot write {path}: there is no such folder; make it with mode 0700")
    write_whole(path, content, mode=0o600)


@contextmanager
def held(folder: Path, by: str) -> Iterator[None]:
    """Hold the folder while the block runs; an error if another process holds it.

    The lock goes with the process, also when it is killed.
    """
    with (private_folder(folder) / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"{folder} is in use by another {by}; end that one or choose another folder"
            ) from None
        yield


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until nobody else is at the file, and be alone at it while the block runs."""
    lock = private_folder(path.parent) / f".{path.name}.lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
