"""The attacks of a run: our own by name, others as objects or as text such as ``mine:depth=3``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator

from veilmap.attacks.attack import Attack
from veilmap.attacks.methods import ATTACKS
from veilmap.errors import UserError, refuse, shown, warn_renamed
from veilmap.notation import name_and_values, object_of
from veilmap.plugins import registered_class
from veilmap.strategy import as_text, class_faults, strategy_faults

GROUP = "veilmap.attacks"  # of entry points
RENAMED = {"neurons": "first_layer"}
_MEMBERS = ("oracle", "reads", "attack")

Method = str | Attack  # a name of ours, whose settings are options of their own, or any object


def methods_of(given: Any) -> tuple[Method, ...]:
    """From names, texts and objects, or from one text with commas between them.

    Raises:
        UserError: one of them is no attack, or is there twice; all faults at once.
    """
    parts = [
        part
        for each in (given if isinstance(given, list | tuple) else (given,))
        for part in (_split(each) if isinstance(each, str) else (each,))
    ]
    methods, faults = [], []
    for part in parts:
        try:
            methods.append(_method_of(part))
        except UserError as fault:
            faults.append(fault)
    if not parts:
        faults.append(UserError(f"method is empty; choose one or more of: {', '.join(ATTACKS)}"))
    names = [method_name(each) for each in methods]
    for name in dict.fromkeys(each for each in names if names.count(each) > 1):
        faults.append(UserError(f"method names {shown(name)} twice; leave one of them out"))
    refuse(faults)
    return tuple(methods)


if TYPE_CHECKING:
    Methods = tuple[Method, ...]
else:  # parsers of files and command lines see texts
    Methods = Annotated[tuple[str, ...], PlainValidator(methods_of)]


def method_name(method: Method) -> str:
    """How results call an attack: one of ours by its name, any other by its text."""
    if isinstance(method, str):
        return method
    return method.name if method.name in ATTACKS else as_text(method)


def _split(text: str) -> Iterator[str]:
    """``search,mine:depth=3,width=2`` is search and mine; a setting belongs to the one before."""
    together = ""
    for piece in filter(str.strip, text.split(",")):
        if together and "=" in piece and ":" not in piece:
            together += f",{piece}"
            continue
        if together:
            yield together
        together = piece
    if together:
        yield together


def _method_of(given: Any) -> Method:
    if not isinstance(given, str):
        refuse(_faults(given))
        method: Attack = given
        return method
    name, values = name_and_values(given)
    if name in RENAMED:
        warn_renamed(f"the method {name}", RENAMED[name])
        name = RENAMED[name]
    if name not in ATTACKS:
        return _foreign(given, name)
    if values:
        raise UserError(
            f"{name} takes its settings as options of their own, not after a colon; "
            f"write {name} alone, got {shown(given)}"
        )
    return name


def _foreign(text: str, name: str) -> Attack:
    """The attack that another package registers."""
    method: Attack = object_of(text, _class_of)
    refuse(_faults(method))
    if method.name != name:
        raise UserError(
            f"the attack {type(method).__name__} is registered as {shown(name)} and its name is "
            f"{shown(method.name)}; its package must make them the same"
        )
    return method


def _class_of(name: str) -> type:
    kind = registered_class(GROUP, ATTACKS, name)
    refuse(class_faults(kind, "attack", _MEMBERS))
    return kind


def _faults(given: object) -> Iterator[UserError]:
    faults = list(strategy_faults(given, "attack", _MEMBERS))
    yield from faults
    name = None if faults else getattr(given, "name")  # noqa: B009
    if name in ATTACKS and not isinstance(given, ATTACKS[name]):
        yield UserError(
            f"the attack {type(given).__name__} has the name {shown(name)}, which is one of ours; "
            "choose another name"
        )
