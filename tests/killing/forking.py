"""Commands in forks of one process that has imported everything, with something against them.

Lines on standard input say what to run, lines on standard output how it ended. A write is a call
that makes, renames or removes something below ``place``.
"""

import importlib
import json
import os
import resource
import sys
import traceback

from veilmap.cli import main
from veilmap.cli.app import COMMANDS

WRITES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir")
LATE = (
    "canvas",
    "map_quality.drawing",
    "map_quality.sheet",
    "report.attack_pictures",
    "auditing.figures",
    "sweeping.drawings",
)


def serve() -> None:
    for name in COMMANDS:
        importlib.import_module(f"veilmap.cli.{name}")
    for name in (
        "optuna",
        "filelock",
        "sklearn.ensemble",
        "veilmap.model.compiled",
        *(f"veilmap.{one}" for one in LATE),
    ):
        importlib.import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(_forked(**json.loads(line))), flush=True)


def _forked(place: str, log: str, **how) -> dict[str, int]:
    """Exit code, negative for a signal, and how many writes there were."""
    counted, counts = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(place)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        os._exit(_run(counts, **how))
    os.close(counts)
    _, status = os.waitpid(child, 0)
    with os.fdopen(counted) as pipe:
        writes = len(pipe.read())
    return {"code": os.waitstatus_to_exitcode(status), "writes": writes}


def _run(
    counts: int,
    words: list[str],
    signal_at: int | None,
    number: int,
    largest_bytes: int | None,
    user: int | None,
) -> int:
    """The exit code.

    Args:
        counts: a file to which each write is reported.
        words: the command line.
        signal_at: the write that a signal comes before; None for no signal.
        number: of the signal.
        largest_bytes: no file may be larger, as on a disk that is full.
        user: whom to become, for root may write everywhere.
    """
    seen = 0

    def hook(event: str, details: tuple) -> None:
        nonlocal seen
        if _is_write(event, details):
            seen += 1
            if seen == signal_at:
                os.kill(os.getpid(), number)
            os.write(counts, b".")

    sys.addaudithook(hook)
    if largest_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_bytes, largest_bytes))
    if user is not None:
        os.seteuid(user)
    try:
        main(words)
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _is_write(event: str, details: tuple) -> bool:
    if event == "open":
        path, _, flags = details
        opened = isinstance(path, str | os.PathLike) and isinstance(flags, int)
        return opened and bool(flags & os.O_CREAT) and _is_here(path)
    return event in WRITES and _is_here(details[0])


def _is_here(path: str | os.PathLike) -> bool:
    return os.path.abspath(path).startswith(f"{os.getcwd()}{os.sep}")


if __name__ == "__main__":
    serve()
