"""Labels of pictures: short names, and how many users are shown."""

from collections.abc import Sequence

from veilmap.wording import counted


def labels(users: Sequence[str]) -> dict[str, str]:
    """User → a name that fits into all pictures and is the same in each."""
    return dict(zip(users, short_names(users), strict=True))


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """Head and tail of each long name; those that then look alike are numbered."""
    short = [shortened(name) for name in names]
    return tuple(
        name if short.count(name) == 1 else f"{name} ({short[:index].count(name) + 1})"
        for index, name in enumerate(short)
    )


def shortened(name: str, longest: int = 12) -> str:
    """At most ``longest`` letters on one line, the middle left out."""
    name = " ".join(name.split())
    tail = longest // 3
    return name if len(name) <= longest else f"{name[: longest - tail - 1]}…{name[-tail:]}"


def shown_users(shown: int, of_all: int) -> str:
    """Whom a picture shows, where it may not show everybody."""
    return counted(shown, "user") if shown == of_all else f"the {shown} densest of {of_all:,} users"
