"""The one error a user of veilmap is meant to see."""

from collections.abc import Iterable

_MOST_SHOWN = 200


class UserError(ValueError):
    """Something the user can mend: bad data, a bad setting, a bad path.

    The message is one line: what is wrong, what is demanded, the value found, the way out.
    The command line prints it and exits with code 2; a program may catch it as ``ValueError``.
    """


def shown(value: object) -> str:
    """A value as it reads in a message; of a long one, which may be anybody's, the beginning."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def unknown_choice(what: str, value: object, choices: Iterable[str]) -> UserError:
    """The error for a name that is not in a table of names."""
    return UserError(f"unknown {what} {shown(value)}; choose one of: {', '.join(choices)}")


def out_of_range(what: str, demand: str, value: object) -> UserError:
    """The error for a number outside its range."""
    return UserError(f"{what} must be {demand}, got {shown(value)}")


def refuse(faults: Iterable[UserError]) -> None:
    """Raise all faults as one error; do nothing if there are none."""
    messages = [str(fault) for fault in faults]
    if messages:
        raise UserError("; ".join(messages))
