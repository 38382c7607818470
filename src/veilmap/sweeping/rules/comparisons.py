"""Figures here against figures there."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan

from veilmap.errors import UserError
from veilmap.sweeping.rules.rule import Rule
from veilmap.sweeping.selection import SweepRow, Where, chosen, mean, numbers


@dataclass(frozen=True)
class Above(Rule):
    """The figure is larger here than there; means, where several rows fit."""

    high: Where
    low: Where
    joint = " against "

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        high, low = self.values(rows)
        return None if high is None or low is None else high - low

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [mean(chosen(rows, where), self.figure) for where in (self.high, self.low)]


@dataclass(frozen=True)
class Order(Rule):
    """The figure rises from each part to the next; the smallest of the rises decides."""

    order: tuple[Where, ...]
    joint = " → "

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
class Ratio(Rule):
    """The figure is at most so many times the figure elsewhere, or another figure of the same rows.

    Specs write the first as ``ratio`` with ``low`` and ``high``, the second as ``fraction`` with
    ``where`` and ``of``.
    """

    at_most: float
    low: Where | None = None
    high: Where | None = None
    where: Where | None = None
    of: str | None = None
    joint = " against "

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
        here, there = (chosen(rows, part or self.where or {}) for part in (self.low, self.high))
        return [mean(here, self.figure), mean(there, self.of or self.figure)]


@dataclass(frozen=True)
class CostRule(Rule):
    """A claim about costs, such as the RMSE, at the privacy that the figure ``private`` gives."""

    ours: Where
    others: Where
    private: str
    joint = " against "

    def hides(self, row: SweepRow) -> float:
        """How private a row is; NaN, which no bound allows, if that is not known."""
        value = row.figure(self.private)
        return nan if value is None else value

    def least(self, rows: Sequence[SweepRow], where: Where, at_least: float) -> float | None:
        """The least cost among the rows that are private enough."""
        enough = [row for row in chosen(rows, where) if self.hides(row) >= at_least]
        return min(numbers(enough, self.figure), default=None)


@dataclass(frozen=True)
class Undominated(CostRule):
    """Our most private row is on the frontier: none of the others is as private and costs less.

    The effect is 1 or -1.
    """

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        ours, others = self.values(rows)
        if ours is None:
            return None
        return 1.0 if others is None or others > ours else -1.0

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        """Our cost, and the least of those that are as private."""
        ours = [row for row in chosen(rows, self.ours) if not isnan(self.hides(row))]
        if not ours:
            return [None, None]
        best = max(ours, key=self.hides)
        return [best.figure(self.figure), self.least(rows, self.others, self.hides(best))]


@dataclass(frozen=True)
class Cheapest(CostRule):
    """Of all rows private enough, one of ours has the least figure."""

    at_least: float

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        ours, others = self.values(rows)
        # Only one side, or none, is private enough at any cost.
        return None if ours is None or others is None else others - ours

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [self.least(rows, where, self.at_least) for where in (self.ours, self.others)]
