"""What is drawn of a sweep, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from veilmap.errors import unknown_choice
from veilmap.settings import parse
from veilmap.sweeping.claims import Table
from veilmap.sweeping.selection import Where


@dataclass(frozen=True)
class Lines:
    """Figures along a key, one line for every value of another, one panel for each figure.

    Attributes:
        x: the key along which they run.
        figures: what is drawn.
        lines: the keys that distinguish lines.
        panel_keys: the keys that distinguish panels; the figures are then lines of one panel.
        where: the rows that are drawn; all if not given.
        table: whose figures.
        log_x: whether the key is drawn by its logarithm.
        log_y: whether the figures are.
        reference: a figure drawn as a dashed line, such as that of random guesses.
    """

    x: str
    figures: tuple[str, ...]
    lines: tuple[str, ...] = ("name",)
    panel_keys: tuple[str, ...] = ()
    where: Where = field(default_factory=dict)
    table: Table = "runs"
    log_x: bool = False
    log_y: bool = False
    reference: str | None = None


@dataclass(frozen=True)
class Bars:
    """Figures of some runs side by side, one panel for each figure."""

    figures: tuple[str, ...]
    groups: tuple[str, ...] = ("name",)
    bars: tuple[str, ...] = ()
    where: Where = field(default_factory=dict)
    reference: str | None = None


@dataclass(frozen=True)
class Tradeoff:
    """The RMSE against figures of privacy, one line for every defence."""

    figures: tuple[str, ...] = ("emd_paper", "distance_m")
    where: Where = field(default_factory=dict)


@dataclass(frozen=True)
class PlaceMaps:
    """Where the target was and what was found, one map for each part.

    Attributes:
        panels: which runs, one each; they must keep what was found.
        rounds: which of the attacked ones, from 1; all if not given.
    """

    panels: tuple[Where, ...]
    rounds: tuple[int, ...] = ()


@dataclass(frozen=True)
class DlgPath:
    """The path of one DLG attack; the run must keep it."""

    where: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Inspected:
    """A picture of the measurements themselves."""

    picture: Literal["map.png", "users.png", "top-cells.png", "similarity.png"]


Picture = Lines | Bars | Tradeoff | PlaceMaps | DlgPath | Inspected
PICTURES: dict[str, type[Picture]] = {
    "lines": Lines,
    "bars": Bars,
    "tradeoff": Tradeoff,
    "places": PlaceMaps,
    "path": DlgPath,
    "data": Inspected,
}


def picture_of(table: Mapping[str, Any]) -> Picture:
    """From a table of a spec: ``kind`` chooses which."""
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in PICTURES:
        raise unknown_choice("kind of picture", kind, PICTURES)
    rest = {name: value for name, value in table.items() if name != "kind"}
    return parse(PICTURES[kind], rest, f"picture {kind}")
