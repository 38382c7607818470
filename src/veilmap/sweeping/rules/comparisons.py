"""Figures here against figures there."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import ClassVar

from veilmap.errors import UserError
from veilmap.sweeping.selection import SweepRow, Where, chosen, mean, numbers


@dataclass(frozen=True)
class Above:
    """The figure is larger here than there; means, where several rows fit."""

    figure: str
    high: Where
    low: Where
    joint: ClassVar[str] = " against "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        high, low = self.values(rows)
        return None if high is None or low is None else high - low

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [mean(chosen(rows, where), self.figure) for where in (self.high, self.low)]


@dataclass(frozen=True)
class Order:
    """The figure rises from each part to the next; the smallest of the rises decides."""

    figure: str
    order: tuple[Where, ...]
    joint: ClassVar[str] = " → "

    def __post_init__(self) -> None:
        if len(self.order) < 2:
            raise UserError(f"order must have two parts or more, got {len(self.order)}")

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        known = [value for value in self.values(rows) if value is not None]
        if len(known) < len(self.order):
            return None
        return min(later - earlier for earlier, later in pairwise(known))

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [mean(chosen(rows, where), self.figure) for where in self.order]


@dataclass(frozen=True)
class Ratio:
    """The figure is at most so many times the figure elsewhere, or another figure of the same rows.

    Specs write the first as ``ratio`` with ``low`` and ``high``, the second as ``fraction`` with
    ``where`` and ``of``.
    """

    figure: str
    at_most: float
    low: Where | None = None
    high: Where | None = None
    where: Where | None = None
    of: str | None = None
    joint: ClassVar[str] = " against "

    def __post_init__(self) -> None:
        given = tuple(each is not None for each in (self.low, self.high, self.where, self.of))
        if given not in ((True, True, False, False), (False, False, True, True)):
            raise UserError(
                f"at_most {self.at_most:g} needs low and high, or where and of; give one pair"
            )

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        part, whole = self.values(rows)
        return None if part is None or whole is None else self.at_most * whole - part

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        here, there = chosen(rows, self.low or self.where or {}), self.high or self.where or {}
        return [mean(here, self.figure), mean(chosen(rows, there), self.of or self.figure)]


@dataclass(frozen=True)
class Undominated:
    """Our most private row is on the frontier: none of the others is as private and costs less.

    The effect is 1 or -1; the figure is the price, such as the RMSE.
    """

    figure: str
    ours: Where
    others: Where
    private: str
    joint: ClassVar[str] = " against "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        ours, others = self.values(rows)
        if ours is None:
            return None
        return 1.0 if others is None or others > ours else -1.0

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        """Our price, and the least of those that are as private."""
        known = [row for row in rows if numbers([row], self.private)]
        mine = chosen(known, self.ours)
        if not mine:
            return [None, None]
        best = max(mine, key=self._hides)
        others = chosen(known, self.others)
        rivals = [row for row in others if self._hides(row) >= self._hides(best)]
        return [best.figure(self.figure), min(numbers(rivals, self.figure), default=None)]

    def _hides(self, row: SweepRow) -> float:
        (value,) = numbers([row], self.private)
        return value


@dataclass(frozen=True)
class Cheapest:
    """Of all rows private enough, one of ours has the least figure, such as the RMSE."""

    figure: str
    ours: Where
    others: Where
    private: str
    at_least: float
    joint: ClassVar[str] = " against "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        ours, others = self.values(rows)
        if ours is None and others is None:
            return None
        difference = (inf if others is None else others) - (inf if ours is None else ours)
        # Only one side is private enough at any price.
        return difference if isfinite(difference) else None

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [self._least(chosen(rows, where)) for where in (self.ours, self.others)]

    def _least(self, rows: Sequence[SweepRow]) -> float | None:
        enough = [row for row in rows if self._is_private(row)]
        return min(numbers(enough, self.figure), default=None)

    def _is_private(self, row: SweepRow) -> bool:
        return any(value >= self.at_least for value in numbers([row], self.private))
