"""A map family, an attack or a step as text: ``farthest:eps_m=50,num=20``."""

import re
from dataclasses import fields
from typing import get_origin, get_type_hints

from veilmap.errors import UserError, shown


def split_steps(text: str) -> list[str]:
    """The steps of ``diverse:eps_m=50 + dp:epsilon=1e+2``."""
    return [part.strip() for part in re.split(r"\+(?=\s*[A-Za-z])", text)]


def name_and_values(text: str) -> tuple[str, dict[str, str]]:
    """``dp:epsilon=8,rounds=11`` → ``dp`` and its settings, still as text."""
    name, _, rest = text.strip().partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",") if pair.strip()]
    for key, equals, value in pairs:
        if not (key.strip() and equals and value.strip()):
            raise UserError(
                f"cannot read {shown(text)}; write a name, and its settings after a colon: "
                "farthest:eps_m=50,num=20"
            )
    values = {key.strip(): value.strip() for key, _, value in pairs}
    if len(values) < len(pairs):
        raise UserError(f"{shown(text)} gives a setting twice; leave out one of them")
    return name.strip(), values


def settings_of(values: dict[str, str], kind: type) -> dict[str, str | list[str]]:
    """The settings under their full names, ``eps`` is ``eps_m``; tuples split at spaces."""
    short = {re.sub(r"(_per)?_(m|dbm)$", "", field.name): field.name for field in fields(kind)}
    full = {short.get(name, name): value for name, value in values.items()}
    if len(full) < len(values):
        raise UserError(f"a setting is given with and without its unit: {', '.join(values)}")
    types = get_type_hints(kind)
    return {
        name: value.split() if get_origin(types.get(name)) is tuple else value
        for name, value in full.items()
    }
