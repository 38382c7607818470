"""Figures against a number."""

from collections.abc import Sequence
from dataclasses import dataclass

from veilmap.sweeping.rules.rule import Rule
from veilmap.sweeping.selection import SweepRow, Where, chosen, mean, numbers


@dataclass(frozen=True)
class AtLeast(Rule):
    """The figure is above a bound in every row that fits."""

    where: Where
    bound: float

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        (least,) = self.values(rows)
        return None if least is None else least - self.bound

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [min(numbers(chosen(rows, self.where), self.figure), default=None)]


@dataclass(frozen=True)
class AtMost(Rule):
    """The figure is below a bound in every row that fits."""

    where: Where
    bound: float

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        (most,) = self.values(rows)
        return None if most is None else self.bound - most

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [max(numbers(chosen(rows, self.where), self.figure), default=None)]


@dataclass(frozen=True)
class SameAs(Rule):
    """The figure, mean over the rows that fit, differs from a number by less than a margin."""

    where: Where
    to: float
    margin: float

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        (value,) = self.values(rows)
        return None if value is None else self.margin - abs(value - self.to)

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        return [mean(chosen(rows, self.where), self.figure)]
