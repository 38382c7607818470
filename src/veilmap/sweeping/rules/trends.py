"""Figures along a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from veilmap.sweeping.selection import SweepRow, Where, along, chosen


@dataclass(frozen=True)
class Rises:
    """The figure rises along a key: the slope of the least-squares line, per step of the key."""

    figure: str
    along: str
    where: Where
    joint: ClassVar[str] = " → "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        values = [value for _, value in self._along(rows)]
        return _slope(values) if len(values) > 1 else None

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        found = [value for _, value in self._along(rows)]
        # Of many rounds, the first and the last tell enough.
        return [*found] if len(found) <= 8 else [found[0], found[-1]]

    def _along(self, rows: Sequence[SweepRow]) -> list[tuple[Any, float]]:
        return along(chosen(rows, self.where), self.along, self.figure)


@dataclass(frozen=True)
class Falls:
    """The figure falls along a key."""

    figure: str
    along: str
    where: Where
    joint: ClassVar[str] = " → "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        slope = self._rises.effect(rows)
        return None if slope is None else -slope

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return self._rises.values(rows)

    @property
    def _rises(self) -> Rises:
        return Rises(self.figure, self.along, self.where)


@dataclass(frozen=True)
class Same:
    """The figure differs by less than a margin among all rows that fit."""

    figure: str
    where: Where
    along: str
    margin: float
    joint: ClassVar[str] = ", "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        known = [value for value in self.values(rows) if value is not None]
        return self.margin - (max(known) - min(known)) if len(known) > 1 else None

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [value for _, value in along(chosen(rows, self.where), self.along, self.figure)]


@dataclass(frozen=True)
class Least:
    """The figure is least at one value of a key; a run that failed has none, and cannot win."""

    figure: str
    where: Where
    along: str
    at: Any
    joint: ClassVar[str] = ", "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        found = dict(along(chosen(rows, self.where), self.along, self.figure))
        best = found.pop(self.at, None)
        return min(found.values()) - best if found and best is not None else None

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [value for _, value in along(chosen(rows, self.where), self.along, self.figure)]


def _slope(values: Sequence[float]) -> float:
    """Of the least-squares line over 0, 1, 2, …; exactly zero for equal values."""
    middle = (len(values) - 1) / 2
    steps = [i - middle for i in range(len(values))]
    # From the first value, because what equal values leave of a sum is rounding, and no slope.
    rise = sum(step * (value - values[0]) for step, value in zip(steps, values, strict=True))
    return rise / sum(step * step for step in steps)
