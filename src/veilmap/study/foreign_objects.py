"""Classes and functions among the settings that are neither veilmap's nor Python's own."""

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import reduce
from typing import Any

from veilmap.notation import name_and_values
from veilmap.strategy import is_named
from veilmap.study.attack_notation import ATTACK_METHODS
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.settings import RunSettings

_PACKAGE = __name__.partition(".")[0]


def foreign_objects(settings: RunSettings, attacks: AttackSettings | None = None) -> list[Any]:
    """Classes of strategies, functions, and other objects that can be called."""
    methods = attacks.who.method if attacks else ()
    classes = [
        ATTACK_METHODS.class_of(name_and_values(method)[0])
        for method in methods
        if isinstance(method, str)
    ]
    found = _within([settings, settings.map, settings.protection.steps, attacks, classes])
    return list({id(thing): thing for thing in found}.values())


def foreign_bases(thing: Any) -> list[type]:
    """Of a class; none of a function."""
    kinds = inspect.getmro(thing)[1:] if inspect.isclass(thing) else ()
    return [kind for kind in kinds if _is_foreign(kind)]


def importable_name(thing: Any) -> str:
    """``module.name``, by which an import gives the very object.

    Raises:
        LookupError: of a lambda, of what was made inside a function, and of a function with
            variables of another one around it: two of them may share a name.
    """
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    at = sys.modules.get(module or "")
    found = reduce(lambda parent, part: getattr(parent, part, None), name.split("."), at)
    if at is None or found is not thing or getattr(thing, "__closure__", None):
        raise LookupError(name)
    return f"{module}.{name}"


def name_in_process(thing: Any) -> str:
    """A name that no other object has while this process runs."""
    try:
        return importable_name(thing)
    except LookupError:
        return str(id(thing))


def is_foreign_module(name: str) -> bool:
    """Whether it is neither ours nor of Python's standard library."""
    top = name.partition(".")[0]
    return top == "__main__" or top not in ("", _PACKAGE, *sys.stdlib_module_names)


def _is_foreign(thing: Any) -> bool:
    is_defined = inspect.isclass(thing) or inspect.isroutine(thing)
    # An object that can be called has the state of whoever made it.
    return not is_defined or is_foreign_module(thing.__module__ or "")


def _within(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from _within(part)
    elif inspect.isclass(value) or (callable(value) and not is_named(value)):
        yield from filter(_is_foreign, [value])
    elif is_dataclass(value):
        yield from filter(_is_foreign, [type(value)])
        for field in fields(value):
            yield from _within(getattr(value, field.name))
