"""The command line: wiring only. A command's module is imported when the command is used."""

import atexit
import signal
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run one command; a user's mistake is one line and exit code 2."""
    # A second Ctrl-C may land in a destructor, and Python would print it; the first one counted.
    say = sys.unraisablehook
    sys.unraisablehook = lambda told: (
        None if issubclass(told.exc_type, KeyboardInterrupt) else say(told)
    )
    try:
        # Inside, so that an interrupt during the import is one line too.
        from veilmap.cli.app import run

        run(arguments)
    except KeyboardInterrupt:
        print("veilmap: interrupted; finished files are whole", file=sys.stderr)
        sys.exit(130)
    finally:
        # First of all at the exit, where libraries clean up: there is nothing more to stop.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
        sys.unraisablehook = say
