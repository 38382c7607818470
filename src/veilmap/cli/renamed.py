"""Deprecated names on the command line, which work for one version with a warning."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from veilmap.errors import RenamedWarning, warn_renamed

# By command; ``simulate campus --cells`` is another option.
OPTIONS = {"attack": {"--cells": "--grid-cells"}, "audit": {"--cells": "--grid-cells"}}


@contextmanager
def renamed_shown() -> Iterator[None]:
    """Print the warning about every old name once, as one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", RenamedWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, RenamedWarning):
                print(f"veilmap: warning: {message}", file=sys.stderr)
            else:
                others(message, category, *where, **more)

        warnings.showwarning = show
        yield


def with_new_options(arguments: Sequence[str] | None) -> list[str]:
    """The arguments, by default those of the process, with old options replaced by new ones."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    renamed = OPTIONS.get(given[0], {}) if given else {}
    return [_with_new_option(each, renamed) for each in given]


def _with_new_option(argument: str, renamed: dict[str, str]) -> str:
    option, equals, value = argument.partition("=")
    if option not in renamed:
        return argument
    warn_renamed(option, renamed[option])
    return f"{renamed[option]}{equals}{value}"
