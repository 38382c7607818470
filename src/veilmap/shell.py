"""Settings as command-line options."""

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from veilmap.strategy import as_text, is_named


def option_name(field: str) -> str:
    """``max_accuracy_m`` → ``max-accuracy``: option names have no units."""
    return re.sub(r"_(m|s|db|dbm)$", "", field.strip("_")).replace("_", "-")


def option_words(settings: Any, usual: Any) -> Iterator[str]:
    """The options that turn ``usual`` into ``settings``, both dataclasses of the same kind."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        if value != getattr(usual, each.name):
            yield from _words(f"--{option_name(each.name)}", value)


def _words(option: str, value: Any) -> Iterator[str]:
    if value is True:
        yield option
    elif isinstance(value, tuple):
        yield option
        yield from map(_word, value)
    else:
        # With an equals sign a negative number is not read as an option.
        yield f"{option}={_word(value)}"


def _word(value: Any) -> str:
    return as_text(value) if is_named(value) else str(value)
