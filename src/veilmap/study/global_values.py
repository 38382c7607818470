"""The global variables that a class or function reads; a script may change them between runs."""

import dis
import inspect
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from veilmap.study.foreign_objects import foreign_bases, importable_name

_PLAIN = (str, bytes, int, float, complex, type(None))


def global_values(thing: Any) -> dict[str, str]:
    """Their values by name, also of what other functions and classes of its package read.

    A value that is neither a number nor text is identified by the source of its module. A script
    may change such a value, so in a script it must be importable.

    Raises:
        LookupError: a script's class or function reads a value that cannot be identified.
    """
    package = _package(thing)
    found, seen, waiting = dict[str, str](), set[int](), [thing]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or _package(part) != package:
            continue
        seen.add(id(part))
        waiting += foreign_bases(part)
        for name, value in _variables(part):
            called = f"{part.__module__}.{part.__qualname__} {name}"
            if _is_plain(value):
                found[called] = repr(value)
            elif package == "__main__" and not isinstance(value, ModuleType):
                found[called] = importable_name(value)
            if isinstance(value, type | FunctionType):
                waiting.append(value)
    return found


def _package(thing: Any) -> str:
    return (thing.__module__ or "").partition(".")[0]


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (isinstance(value, tuple) and all(map(_is_plain, value)))


def _variables(thing: Any) -> Iterator[tuple[str, Any]]:
    """What functions and methods read, their defaults, and the plain attributes of a class."""
    members = vars(thing) if inspect.isclass(thing) else {"": thing}
    for member_name, member in members.items():
        if _is_plain(member) and not member_name.startswith("__"):
            yield member_name, member
        function = _function_of(member)
        if function is not None and not member_name.startswith("__annotat"):
            defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
            yield from ((f"{member_name} {i}", value) for i, value in enumerate(defaults))
            names = _globals_of(function.__code__) & function.__globals__.keys()
            yield from ((name, function.__globals__[name]) for name in names)


def _function_of(member: Any) -> FunctionType | None:
    """Of a method, a property or a wrapped function; none that no source has."""
    inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
    function = inspect.unwrap(inner) if callable(inner) else None
    is_written = inspect.isfunction(function) and function.__code__.co_filename != "<string>"
    return function if is_written else None


@lru_cache(maxsize=4096)
def _globals_of(code: CodeType) -> frozenset[str]:
    """The names of global variables in a function and in those inside it."""
    read = {i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"}
    inner = (_globals_of(part) for part in code.co_consts if isinstance(part, CodeType))
    return frozenset(read).union(*inner)
