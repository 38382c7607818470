"""The error that users of veilmap see."""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

_LONGEST_SHOWN = 80
_MOST_TOLD = 8
# No file name is as long.
_ENDLESS = re.compile(r"([^\s/]{255})[^\s/]+")


class UserError(ValueError):
    """Something the user can fix: bad data, a bad setting, a bad path.

    The message is one line: what is wrong, what is demanded, the value found, the way out.
    The command line prints it and exits with code 2; a program may catch it as ``ValueError``.
    """

    def __init__(self, message: str) -> None:
        super().__init__(cut(message))


class RenamedWarning(FutureWarning):
    """A renamed option, setting or class is used by its old name, which the next version drops."""


def warn_renamed(old: str, new: str) -> None:
    """Warn that a name is deprecated, and name its replacement."""
    warnings.warn(f"{old} is deprecated; use {new}", RenamedWarning, stacklevel=2)


def cut(message: str) -> str:
    """Shorten very long words; a library may repeat a value of any length."""
    return _ENDLESS.sub(r"\1…", message)


def shown(value: object) -> str:
    """A value as messages show it: on one line and cut if it is long."""
    text = re.sub(r"\s*\n\s*", " ", repr(value))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def unknown_choice(what: str, value: object, choices: Iterable[str]) -> UserError:
    """The error for a name that is not one of the choices."""
    return UserError(f"unknown {what} {shown(value)}; choose one of: {', '.join(choices)}")


def not_among(what: str, value: object, choices: Collection[str]) -> Iterator[UserError]:
    """An error if a name is not one of the choices."""
    if value not in choices:
        yield unknown_choice(what, value, choices)


def out_of_range(what: str, demand: str, value: object) -> UserError:
    """The error for a number outside its range."""
    return UserError(f"{what} must be {demand}, got {shown(value)}")


def too_low(least: int, kind: type[int | float] = float, /, **values: float) -> Iterator[UserError]:
    """An error for each value below ``least``; with ``int``, or that is no whole number."""
    demand = f"a whole number of at least {least}" if kind is int else f"at least {least}"
    for name, value in values.items():
        if not ((kind is float or isinstance(value, int)) and value >= least):
            yield out_of_range(name, demand, value)


def cannot_write(what: object, error: OSError, way_out: str) -> UserError:
    """The error for a failed write, whichever layer of the program met it."""
    return UserError(f"cannot write {what}: {error.strerror or error}; {way_out}")


def refuse(faults: Iterable[UserError]) -> None:
    """Raise all faults as one error; do nothing if there are none."""
    messages = [str(fault) for fault in faults]
    if messages:
        raise UserError(together(messages))


class Checked:
    """Settings or data that refuse all their faults at once when they are made."""

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        raise NotImplementedError


def refuse_several(call: str, **ways: object) -> None:
    """Raise if more than one of the ways to give the same settings is used."""
    names = {name: name.replace("_", " ") for name in ways}
    used = [names[name] for name, given in ways.items() if given]
    if len(used) > 1:
        raise UserError(
            f"{call} takes only one of {', '.join(names.values())}, got {' and '.join(used)}; "
            "leave the others out"
        )


def fault_of(check: Callable[..., object], *given: object) -> Iterator[UserError]:
    """The error that a check raises, to be reported together with others."""
    try:
        check(*given)
    except UserError as fault:
        yield fault


def together(messages: Sequence[str]) -> str:
    """Several messages as one; after the first few only their number is given."""
    more = len(messages) - _MOST_TOLD
    return "; ".join([*messages[:_MOST_TOLD], *([f"and {more:,} more"] if more > 0 else [])])
