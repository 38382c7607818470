"""How a defence or an attack looks, the same in every picture and page.

One of another package gets a look of its own, and so does a combination; it hangs on the name alone
unless two that are drawn together would have the same mark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from typing import Any, Literal
from zlib import crc32

from veilmap.defences.step import JOINED_BY
from veilmap.federation.plan import SCHEMES

PLAIN = "no defence"
Filling = Literal["full", "none", "left", "right", "top", "bottom"]


@dataclass(frozen=True)
class Look:
    """Colours on white paper and on a dark page, and a mark as matplotlib calls it."""

    colour: str
    dark: str
    marker: str


# Okabe and Ito's, which colour-blind readers can distinguish.
_DEFENCES = {
    PLAIN: Look("#000000", "#ffffff", "*"),
    "centre": Look("#e69f00", "#e69f00", "o"),
    "random": Look("#999999", "#999999", "s"),
    "diverse": Look("#009e73", "#009e73", "^"),
    "farthest": Look("#cc79a7", "#cc79a7", "D"),
    "dp": Look("#d55e00", "#d55e00", "v"),
    "geoind": Look("#0072b2", "#3d9bd8", "P"),
    "gan": Look("#56b4e9", "#56b4e9", "X"),
}
_ATTACKS = {
    "dlg": Look("#0072b2", "#3d9bd8", "o"),
    "search": Look("#e69f00", "#e69f00", "s"),
    "first_layer": Look("#009e73", "#009e73", "^"),
    "heatmap": Look("#cc79a7", "#cc79a7", "D"),
    "rows": Look("#117733", "#4fae6c", "d"),
    "joint": Look("#aa4499", "#cf78c0", "H"),
    "squares": Look("#999999", "#999999", "v"),
    "frequency": Look("#56b4e9", "#56b4e9", "P"),
    "medoid": Look("#8b5a2b", "#c89b6a", "X"),
    "posterior": Look("#d55e00", "#d55e00", "*"),
    "zone_centre": Look("#882255", "#d46a9f", "h"),
    "learned": Look("#332288", "#8f80e0", ">"),
    "differencing": Look("#000000", "#ffffff", "p"),
}
_COMBINED = tuple(
    Look(colour, dark, marker)
    for marker in ("<", ">", "h", "d")
    for colour, dark in (
        ("#882255", "#d46a9f"),
        ("#117733", "#4fae6c"),
        ("#332288", "#8f80e0"),
        ("#aa4499", "#cf78c0"),
    )
)
_FOREIGN = tuple(
    Look(colour, dark, marker)
    for marker in ("p", "8", "H")
    for colour, dark in (
        ("#2a8c7c", "#5cc4b4"),
        ("#7a7a1f", "#bdbd52"),
        ("#b0455a", "#e08a9a"),
        ("#8b5a2b", "#c89b6a"),
        ("#4f6fa8", "#8fb0e6"),
    )
)


def defence_looks(families: Iterable[str]) -> dict[str, Look]:
    """By family, such as ``diverse`` or ``farthest + dp``."""
    families = list(dict.fromkeys(families))
    combined = [each for each in families if JOINED_BY in each]
    single = [each for each in families if each not in combined]
    return {**_looks(single, _DEFENCES), **_looks_by_name(combined, _COMBINED)}


def attack_looks(names: Iterable[str]) -> dict[str, Look]:
    """By the name in results."""
    return _looks(names, _ATTACKS)


def family_of(configuration: str) -> str:
    """The steps without their settings: ``diverse`` of ``fedavg + diverse:eps_m=50``."""
    return _names(scheme_and_steps(configuration)[1]) or PLAIN


def scheme_of(configuration: str) -> str:
    """``fedsgd`` of ``fedsgd:learning_rate=0.001 + centre``; ``rings + fedsgd`` of another map."""
    return _names(scheme_and_steps(configuration)[0])


def scheme_and_steps(configuration: str) -> tuple[list[str], list[str]]:
    """The parts of a configuration: a scheme, or a map and its scheme; then the steps."""
    parts = configuration.split(JOINED_BY)
    begin = 2 if _names(parts[1:2]) in SCHEMES else 1
    return parts[:begin], parts[begin:]


def scheme_fillings(configurations: Iterable[str]) -> dict[str, Filling]:
    """Which part of its marks is coloured, by scheme; after six the halves come again."""
    schemes = dict.fromkeys(map(scheme_of, configurations))
    fillings: Iterable[Filling] = chain(("full", "none"), cycle(("left", "right", "top", "bottom")))
    return dict(zip(schemes, fillings, strict=False))


def mark_style(look: Look, filling: Filling, *, is_plain: bool) -> dict[str, Any]:
    """Colour, marker and what is filled of it, as matplotlib takes them; no defence is a star."""
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker}
    style["markersize"] = 9 if is_plain else 5
    if filling in ("full", "none"):
        return style | {"markerfacecolor": look.colour if filling == "full" else "white"}
    return style | {
        "markerfacecolor": look.colour,
        "markerfacecoloralt": "white",
        "fillstyle": filling,
    }


def _names(parts: Iterable[str]) -> str:
    """Without their settings."""
    return JOINED_BY.join(part.partition(":")[0] for part in parts)


def _looks(given: Iterable[str], own: Mapping[str, Look]) -> dict[str, Look]:
    names = list(given)
    foreign = _looks_by_name([each for each in names if each not in own], _FOREIGN)
    return {each: own.get(each) or foreign[each] for each in names}


def _looks_by_name(names: Iterable[str], table: Sequence[Look]) -> dict[str, Look]:
    """Each as its name has it; the second of two with the same mark takes the next that is free."""
    found: dict[str, Look] = {}
    for name in sorted(set(names)):
        place = crc32(name.encode()) % len(table)
        taken = found.values()
        marks = {look.marker for look in taken}
        turned = (*table[place:], *table[:place])
        found[name] = min(turned, key=lambda look: (look in taken, look.marker in marks))
    return found
