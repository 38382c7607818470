"""A map family, an attack or a step as text: ``farthest:eps_m=50,num=20``."""

import re
from dataclasses import fields
from typing import Any

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


def with_units(values: dict[str, str], kind: type) -> dict[str, Any]:
    """The settings under their full names: ``eps`` is ``eps_m``."""
    short = {re.sub(r"(_per)?_(m|dbm)$", "", field.name): field.name for field in fields(kind)}
    full = {short.get(name, name): value for name, value in values.items()}
    if len(full) < len(values):
        raise UserError(f"a setting is given with and without its unit: {', '.join(values)}")
    return full
