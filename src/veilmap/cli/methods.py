"""``veilmap methods``."""

import json as json_text
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from typing import Any

from veilmap.cli.console import say
from veilmap.study.methods import Method, methods

_HEADINGS = {
    "map": "Map families",
    "defence": "Defences",
    "attack": "Attacks",
    "feature": "Features for learned",
}
_MAIN = 2  # the first settings are those most often changed


def methods_(*, json: bool = False) -> None:
    """List all map families, defences, attacks and features, also of installed packages.

    Args:
        json: print them as JSON, with all settings.
    """
    found = methods()
    if json:
        # Not through the console, which would escape characters in names.
        print(json_text.dumps([asdict(each) for each in found], indent=2, ensure_ascii=False))
        return
    widest = max(len(each.name) for each in found)
    for kind, group in groupby(found, lambda each: each.kind):
        say(f"{_HEADINGS[kind]}:")
        for each in group:
            say(f"  {each.name:<{widest}}  {_line(each)}")
        say("")
    say("What they do: docs/defences.md, docs/attacks.md. How to add one: docs/extending.md.")


def _line(method: Method) -> str:
    main = ", ".join(_main(method))
    parts = (
        method.summary.replace("``", ""),
        f"[{main}]" if main else "",
        f"(from {method.package})" if method.package else "",
    )
    return " ".join(filter(None, parts))


def _main(method: Method) -> Iterator[str]:
    """``eps_m=50.0``; a setting without a default by its name alone."""
    for name, value in list(method.settings.items())[:_MAIN]:
        yield name if value is None else f"{name}={_value(value)}"


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json_text.dumps(value)
