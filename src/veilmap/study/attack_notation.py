"""The attacks of a run: our own by name, others as objects or as text such as ``mine:depth=3``."""

import re
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator

from veilmap.attacks.attack import Attack
from veilmap.attacks.methods import ATTACKS, GUESSES
from veilmap.errors import UserError, refuse, shown, warn_renamed
from veilmap.notation import name_and_values
from veilmap.registry import Registry
from veilmap.shadows.learned import Learned
from veilmap.strategy import as_text
from veilmap.study.step_notation import as_tuple

RENAMED = {"neurons": "first_layer"}
OURS: dict[str, type[Attack]] = {**ATTACKS, Learned.name: Learned}
WITH_OPTIONS = ("dlg", "search", "heatmap")  # their settings are options of their own
# Results write "none" where there was no attack; the guesses stand beside all attacks.
ATTACK_METHODS: Registry[Attack] = Registry(
    "attack", OURS, (Attack.reads, Attack.attack), ("oracle",), ("none", *GUESSES, *RENAMED)
)

# A name of ours, whose settings are options of their own, or any object.
MethodChoice = str | Attack


def methods_of(given: Any) -> tuple[MethodChoice, ...]:
    """From names, texts and objects, or from one text with commas between them.

    Raises:
        UserError: one of them is no attack, or is there twice; all faults at once.
    """
    parts = [part for each in as_tuple(given) for part in _parts_of(each)]
    methods, faults = [], []
    for part in parts:
        try:
            methods.append(_method_of(part))
        except UserError as fault:
            faults.append(fault)
    if not parts:
        faults.append(UserError(f"method is empty; choose one or more of: {', '.join(OURS)}"))
    names = [method_name(each) for each in methods]
    for name in dict.fromkeys(each for each in names if names.count(each) > 1):
        faults.append(UserError(f"method names {shown(name)} twice; leave one of them out"))
    refuse(faults)
    return tuple(methods)


if TYPE_CHECKING:
    Methods = tuple[MethodChoice, ...]
else:  # parsers of files and command lines see texts
    Methods = Annotated[tuple[str, ...], PlainValidator(methods_of)]


def method_name(method: MethodChoice) -> str:
    """How results call an attack: one of ours by its name, any other by its text."""
    if isinstance(method, str):
        return method
    return method.name if method.name in OURS else as_text(method)


def _parts_of(given: Any) -> list[Any]:
    """``search,mine:depth=3,width=2`` is search and mine; a setting belongs to the one before."""
    if not isinstance(given, str):
        return [given]
    pieces = ",".join(filter(str.strip, given.split(",")))
    # At the commas before a piece without "=", or with a colon.
    return re.split(r",(?![^,:]*=[^,:]*(?:,|\Z))", pieces) if pieces else []


def _method_of(given: Any) -> MethodChoice:
    if not isinstance(given, str):
        refuse(ATTACK_METHODS.faults(given))
        method: Attack = given
        return method
    name, values = name_and_values(given)
    if name in RENAMED:
        warn_renamed(f"the method {name}", RENAMED[name])
        name = RENAMED[name]
    if name in GUESSES:
        raise UserError(f"the guess {name} is made beside every attack; leave it out of method")
    if name not in OURS or (values and name not in WITH_OPTIONS):
        return ATTACK_METHODS.of_text(given)
    if values:
        raise UserError(
            f"{name} takes its settings as options of their own, not after a colon; "
            f"write {name} alone, got {shown(given)}"
        )
    return name
