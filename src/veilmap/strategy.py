"""Objects that are their own configuration: map families, attacks and the steps of a defence.

Each is a frozen dataclass whose fields are its settings, with a name by which texts call it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
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


def class_faults(
    kind: type, what: str, methods: Sequence[str], attributes: Sequence[str] = ()
) -> Iterator[UserError]:
    """What keeps the instances of a class from being ``what``."""
    parameters = getattr(kind, "__dataclass_params__", None)
    if not (is_dataclass(kind) and getattr(parameters, "frozen", False)):
        yield UserError(
            f"{what} {kind.__name__} must be a frozen dataclass, whose fields are its settings; "
            "put @dataclass(frozen=True) above the class"
        )
        return
    there = {*dir(kind), *(field.name for field in fields(kind))}
    missing = [member for member in ("name", *attributes, *methods) if member not in there]
    if missing:
        yield UserError(
            f"{what} {kind.__name__} has no {', no '.join(missing)}; add what is missing, as "
            "docs/extending.md shows"
        )
    yield from method_faults(kind, what, methods)


def method_faults(kind: type, what: str, methods: Sequence[str]) -> Iterator[UserError]:
    """Those that are there and cannot be called."""
    for method in methods:
        if hasattr(kind, method) and not callable(value := getattr(kind, method)):
            yield UserError(
                f"{method} of {what} {kind.__name__} must be a method, got {shown(value)}; write "
                f"def {method}(self, …), as docs/extending.md shows"
            )


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_value, value))
    # All digits that a number needs, and no ".0" after a whole one.
    return repr(float(value)).removesuffix(".0") if isinstance(value, float) else str(value)
