"""Objects that are their own configuration: map families, attacks and the steps of a defence.

Each is a frozen dataclass whose fields are its settings, with a name by which texts call it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from inspect import signature
from typing import Any, Protocol

from veilmap.errors import UserError, shown

_MAIN = 2  # the first settings are those that one asks for


class Named(Protocol):
    """A frozen dataclass whose fields are its settings."""

    @property
    def name(self) -> str:
        """By which configurations and command lines call it."""


def as_text(strategy: Named) -> str:
    """``farthest:eps_m=50,num=20``: its main numbers, and what differs from the defaults.

    A field with ``repr=False``, such as a function, stands in no text.
    """
    given = [
        f"{field.name}={_value(value)}"
        for place, field in enumerate(fields(strategy))  # type: ignore[arg-type]
        if field.repr
        and (value := getattr(strategy, field.name)) is not None
        and (value != field.default or (place < _MAIN and type(value) in (int, float)))
    ]
    return f"{strategy.name}:{','.join(given)}" if given else strategy.name


def is_named(value: object) -> bool:
    """Whether its class has a name of its own, as those of strategies do."""
    return isinstance(getattr(type(value), "name", None), str)


def class_faults(kind: type, what: str, members: Sequence[str]) -> Iterator[UserError]:
    """Why instances of a class cannot be used as a ``what``, such as a defence."""
    parameters = getattr(kind, "__dataclass_params__", None)
    if not (is_dataclass(kind) and getattr(parameters, "frozen", False)):
        yield UserError(
            f"{what} {kind.__name__} must be a frozen dataclass, whose fields are its settings; "
            "put @dataclass(frozen=True) above the class"
        )
        return
    there = {*dir(kind), *(field.name for field in fields(kind))}
    missing = [member for member in ("name", *members) if member not in there]
    if missing:
        yield UserError(
            f"{what} {kind.__name__} has no {', no '.join(missing)}; add what is missing, as "
            "docs/extending.md shows"
        )


def method_faults(
    given: object, what: str, methods: Sequence[Callable[..., Any]]
) -> Iterator[UserError]:
    """Those of a protocol that an object has and that cannot be called as the protocol's are."""
    for method in methods:
        wanted = [*signature(method).parameters]
        own = getattr(given, method.__name__, method)
        if not callable(own):
            got = f"be a method, got {shown(own)}"
        elif own is not method and not _takes(own, wanted[1:]):
            got = f"take {', '.join(wanted[1:])}, got {list(signature(own).parameters)}"
        else:
            continue
        yield UserError(
            f"{method.__name__} of {what} {type(given).__name__} must {got}; write "
            f"def {method.__name__}({', '.join(wanted)}), as docs/extending.md shows"
        )


def _takes(method: Callable[..., Any], arguments: Sequence[str]) -> bool:
    """Whether it can be called so; one whose signature Python does not know can."""
    try:
        signature(method).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_value, value))
    # All digits that a number needs, and no ".0" after a whole one.
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)
