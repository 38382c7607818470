"""The command line: wiring only. A command's module is imported when the command is used."""

from veilmap.cli.app import main

__all__ = ["main"]
