"""Locks: one process at a time writes to a folder or file."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from veilmap.errors import UserError
from veilmap.files import remove_parts, writing

PROCESS = "process of veilmap"


@contextmanager
def held(folder: Path | None, *inside: str, by: str = PROCESS) -> Iterator[None]:
    """Lock the folder for writing while the block runs; an error if another process holds it.

    Files that a killed process left half-written are removed, and so is a folder that was created
    for the block and stays empty.

    Args:
        folder: None if nothing is written.
        inside: subfolders that are written to as well.
        by: the kind of process that may hold it, for the message.
    """
    if folder is None:
        yield
        return
    with writing(folder):
        refuse_no_folder(folder)
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with _locked(folder / ".lock", folder, by):
            with writing(folder):
                for each in (folder, *(folder / name for name in inside)):
                    remove_parts(each)
            yield
    finally:
        with suppress(OSError):
            for each in missing:
                each.rmdir()


@contextmanager
def held_file(path: Path) -> Iterator[None]:
    """The same for one file, in a folder that others write to as well."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.with_name(f".{path.name}.lock"), path, PROCESS):
        with writing(path.parent):
            remove_parts(path.parent, path.name)
        yield


def refuse_no_folder(folder: Path) -> None:
    """An error if the folder does not exist and cannot be created."""
    if folder.is_symlink() and not folder.exists():
        raise UserError(
            f"{folder} is a link to {folder.readlink()}, which does not exist; make that folder "
            "or choose another --out"
        )
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file; choose a folder for --out")


@contextmanager
def _locked(file: Path, what: Path, by: str) -> Iterator[None]:
    """The system releases the lock when the process ends, even if it is killed."""
    # Resolved, so that it is found at the end even if the working directory changes.
    file = file.parent.resolve() / file.name
    lock = FileLock(file, timeout=0)
    with writing(what):
        try:
            lock.acquire()
        except Timeout:
            raise UserError(
                f"{what} is in use by another {by}; end that one or choose another place"
            ) from None
    try:
        yield
    finally:
        # Before the release: a process that has opened it meanwhile then finds it unlinked.
        with suppress(OSError):
            file.unlink()
        lock.release()
