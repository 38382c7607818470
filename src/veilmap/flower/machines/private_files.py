"""Files and folders that only their owner may read."""

import fcntl
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from veilmap.errors import UserError
from veilmap.files import PRIVATE, write_whole, writing
from veilmap.output import held

PrivateKey = ec.EllipticCurvePrivateKey


def private_folder(path: Path) -> Path:
    """Make the folder, readable by its owner only; an existing one is not changed."""
    with writing(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, into an existing folder."""
    if not path.parent.is_dir():
        # A folder created here would be open to all.
        raise UserError(f"cannot write {path}: there is no such folder; make it with mode 0700")
    write_whole(path, content, PRIVATE)


def write_private_key(path: Path, key: PrivateKey, form: PrivateFormat) -> None:
    """The same for a key, without a password."""
    write_private(path, key.private_bytes(Encoding.PEM, form, NoEncryption()))


def held_privately(folder: Path, by: str) -> AbstractContextManager[None]:
    """Hold a private folder for writing while the block runs."""
    return held(private_folder(folder), by=by)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait for the file's lock, and hold it while the block runs."""
    lock = private_folder(path.parent) / f".{path.name}.lock"
    with writing(lock):
        file = lock.open("w")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
