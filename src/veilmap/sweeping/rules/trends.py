"""Figures along a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veilmap.sweeping.rules.rule import Rule
from veilmap.sweeping.selection import SweepRow, Where, along, chosen


@dataclass(frozen=True)
class Trend(Rule):
    """A claim about the mean figures along a key."""

    along: str
    where: Where

    def means(self, rows: Sequence[SweepRow]) -> dict[Any, float]:
        """The mean figure for every value of the key that has one."""
        return along(chosen(rows, self.where), self.along, self.figure)

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [*self.means(rows).values()]


@dataclass(frozen=True)
class Rises(Trend):
    """The figure rises along a key: the slope of the least-squares line, per step of the key."""

    joint = " → "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        values = [*self.means(rows).values()]
        return _slope(values) if len(values) > 1 else None

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        found = super().values(rows)
        # Of many rounds, the first and the last suffice.
        return found if len(found) <= 8 else [found[0], found[-1]]


@dataclass(frozen=True)
class Falls(Rises):
    """The figure falls along a key."""

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        slope = super().effect(rows)
        return None if slope is None else -slope


@dataclass(frozen=True)
class Same(Trend):
    """The figure differs by less than a margin among all rows that fit."""

    margin: float

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        known = self.means(rows).values()
        return self.margin - (max(known) - min(known)) if len(known) > 1 else None


@dataclass(frozen=True)
class Least(Trend):
    """The figure is least at one value of a key; a run that failed has none, and cannot win."""

    at: Any

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        others = self.means(rows)
        best = others.pop(self.at, None)
        return min(others.values()) - best if others and best is not None else None


def _slope(values: Sequence[float]) -> float:
    """Of the least-squares line over 0, 1, 2, …; exactly zero for equal values."""
    middle = (len(values) - 1) / 2
    steps = [i - middle for i in range(len(values))]
    # From the first value, because what equal values leave of a sum is rounding, and no slope.
    rise = sum(step * (value - values[0]) for step, value in zip(steps, values, strict=True))
    return rise / sum(step * step for step in steps)
