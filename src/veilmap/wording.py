"""Counts in sentences: 1 user, 1,200 users."""


def plural(count: int, noun: str) -> str:
    """The noun in the number that goes with ``count``."""
    return noun if count == 1 else f"{noun}s"


def counted(count: int, noun: str) -> str:
    """``1 user`` or ``1,200 users``."""
    return f"{count:,} {plural(count, noun)}"
