"""Counts and lists in sentences: 1 user, 1,200 users; a, b, c, …."""

from collections.abc import Sequence


def plural(count: int, noun: str) -> str:
    """The noun in the number that goes with ``count``."""
    return noun if count == 1 else f"{noun}s"


def counted(count: int, noun: str) -> str:
    """``1 user`` or ``1,200 users``."""
    return f"{count:,} {plural(count, noun)}"


def listed(names: Sequence[str], most: int = 8, separator: str = ", ") -> str:
    """``a, b, c``; names after the first ``most`` become an ellipsis."""
    more = ["…"] if len(names) > most else []
    return separator.join([*names[:most], *more])
