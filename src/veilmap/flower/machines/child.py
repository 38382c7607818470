"""The entry point of every child process: it ends when its parent ends."""

import os
import signal
import sys
import threading
import time
from pkgutil import resolve_name

_LOOK_EVERY_S = 0.5
_TIME_TO_END_S = 10.0


def main() -> None:
    """Call ``module:function`` with the rest of the command line.

    A function instead of one of Flower's scripts: SuperLink and SuperNode cannot end with their
    parent, and would keep their ports after it was killed.
    """
    parent, name, target, *arguments = sys.argv[1:]
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    sys.argv = [name, *arguments]
    resolve_name(target)()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_TIME_TO_END_S)
    os._exit(1)


if __name__ == "__main__":
    main()
