"""Labels of pictures: short names, and how many users are shown."""

from collections.abc import Sequence

from veilmap.wording import counted


def labels(users: Sequence[str]) -> dict[str, str]:
    """User → a short name, the same in all pictures."""
    return dict(zip(users, short_names(users), strict=True))


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Head and tail of long names; equal results are numbered."""
    short = [shortened(name) for name in names]
    return tuple(
        name if short.count(name) == 1 else f"{name} ({short[:index].count(name) + 1})"
        for index, name in enumerate(short)
    )


def shortened(name: str, longest: int = 12) -> str:
    """At most ``longest`` characters on one line, with the middle left out."""
    name = " ".join(name.split())
    tail = longest // 3
    return name if len(name) <= longest else f"{name[: longest - tail - 1]}…{name[-tail:]}"


def shown_users(shown: int, of_all: int) -> str:
    """Which users a picture shows."""
    return counted(shown, "user") if shown == of_all else f"the {shown} densest of {of_all:,} users"
