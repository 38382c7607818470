"""The command line: wiring only. Modules of commands are imported on use."""

import atexit
import signal
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run one command; a user's mistake is one line and exit code 2."""
    # A second Ctrl-C may hit a destructor, and Python would print it.
    usual = sys.unraisablehook
    sys.unraisablehook = lambda error: (
        None if issubclass(error.exc_type, KeyboardInterrupt) else usual(error)
    )
    try:
        # Here, so that an interrupt during the import is one line too.
        from veilmap.cli.app import run

        run(arguments)
    except KeyboardInterrupt:
        print("veilmap: interrupted; finished files are complete", file=sys.stderr)
        sys.exit(130)
    finally:
        # First at exit, where libraries clean up: ignore further Ctrl-C.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        sys.unraisablehook = usual
