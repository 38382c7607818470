"""The command line: wiring only. A command's module is imported when the command is used."""

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run one command; a user's mistake is one line and exit code 2."""
    try:
        # Inside, so that an interrupt during the import is one line too.
        from veilmap.cli.app import run

        run(arguments)
    except KeyboardInterrupt:
        print("veilmap: interrupted; finished files are whole", file=sys.stderr)
        sys.exit(130)
