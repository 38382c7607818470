"""How a defence or an attack looks, the same in every picture and page.

One of another package gets a look of its own, which hangs on its name alone unless two that are
drawn together would look the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

from veilmap.defences.step import JOINED_BY
from veilmap.federation.plan import SCHEMES

PLAIN = "no defence"


@dataclass(frozen=True)
class Look:
    """Colours on white paper and on a dark page, and a mark as matplotlib calls it."""

    colour: str
    dark: str
    marker: str


# Okabe and Ito's, which the colour-blind can tell apart.
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
}
_COMBINED = (
    Look("#882255", "#d46a9f", "<"),
    Look("#117733", "#4fae6c", ">"),
    Look("#332288", "#8f80e0", "h"),
    Look("#aa4499", "#cf78c0", "d"),
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
    return {
        **_looks(single, _DEFENCES),
        **{each: _COMBINED[place % len(_COMBINED)] for place, each in enumerate(combined)},
    }


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


def _names(parts: Iterable[str]) -> str:
    """Without their settings."""
    return JOINED_BY.join(part.partition(":")[0] for part in parts)


def _looks(given: Iterable[str], own: Mapping[str, Look]) -> dict[str, Look]:
    names = list(given)
    foreign = _foreign_looks(sorted({each for each in names if each not in own}))
    return {each: own.get(each) or foreign[each] for each in names}


def _foreign_looks(names: Sequence[str]) -> dict[str, Look]:
    """Each as its name has it; the second of two that would look the same takes the next."""
    found: dict[str, Look] = {}
    for name in names:
        place = crc32(name.encode())
        for offset in range(len(_FOREIGN)):
            look = _FOREIGN[(place + offset) % len(_FOREIGN)]
            if look not in found.values():
                break
        found[name] = look
    return found
