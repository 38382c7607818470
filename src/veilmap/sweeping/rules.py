"""Kinds of claims. Each turns the rows of one seed into one number, its effect.

The effect is above zero if the claim is true of that seed; how sure that is, several seeds tell.
Published numbers are rows as well, so that they go the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite
from typing import Any, ClassVar, Protocol

from veilmap.errors import UserError
from veilmap.sweeping.selection import Row, Where, along, chosen, mean, numbers


class Rule(Protocol):
    """What a claim's figures must be like."""

    # How the numbers are joined in a table: 7.0 against 9.7.
    joint: ClassVar[str]

    @property
    def figure(self) -> str:
        """As the rows call it."""

    def effect(self, rows: Sequence[Row]) -> float | None:
        """Above zero if true, in the figure's unit; None if these rows cannot tell."""

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        """The numbers that are compared, in the order of the statement."""


@dataclass(frozen=True)
class Above:
    """The figure is larger here than there; means, where several rows fit."""

    figure: str
    high: Where
    low: Where
    joint: ClassVar[str] = " against "

    def effect(self, rows: Sequence[Row]) -> float | None:
        high, low = self.values(rows)
        return None if high is None or low is None else high - low

    def values(self, rows: Sequence[Row]) -> list[float | None]:
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

    def effect(self, rows: Sequence[Row]) -> float | None:
        known = [value for value in self.values(rows) if value is not None]
        if len(known) < len(self.order):
            return None
        return min(later - earlier for earlier, later in pairwise(known))

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [mean(chosen(rows, where), self.figure) for where in self.order]


@dataclass(frozen=True)
class Rises:
    """The figure rises along a key: the slope of the least-squares line, per step of the key."""

    figure: str
    along: str
    where: Where
    joint: ClassVar[str] = " → "

    def effect(self, rows: Sequence[Row]) -> float | None:
        values = [value for _, value in self._along(rows)]
        return _slope(values) if len(values) > 1 else None

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        found = [value for _, value in self._along(rows)]
        # Of many rounds, the first and the last tell enough.
        return [*found] if len(found) <= 8 else [found[0], found[-1]]

    def _along(self, rows: Sequence[Row]) -> list[tuple[Any, float]]:
        return along(chosen(rows, self.where), self.along, self.figure)


@dataclass(frozen=True)
class Falls:
    """The figure falls along a key."""

    figure: str
    along: str
    where: Where
    joint: ClassVar[str] = " → "

    def effect(self, rows: Sequence[Row]) -> float | None:
        slope = self._rises.effect(rows)
        return None if slope is None else -slope

    def values(self, rows: Sequence[Row]) -> list[float | None]:
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

    def effect(self, rows: Sequence[Row]) -> float | None:
        known = [value for value in self.values(rows) if value is not None]
        return self.margin - (max(known) - min(known)) if len(known) > 1 else None

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [value for _, value in along(chosen(rows, self.where), self.along, self.figure)]


@dataclass(frozen=True)
class SameAs:
    """The figure, mean over the rows that fit, differs from a number by less than a margin."""

    figure: str
    where: Where
    to: float
    margin: float
    joint: ClassVar[str] = ", "

    def effect(self, rows: Sequence[Row]) -> float | None:
        (value,) = self.values(rows)
        return None if value is None else self.margin - abs(value - self.to)

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [mean(chosen(rows, self.where), self.figure)]


@dataclass(frozen=True)
class AtLeast:
    """The figure is above a bound in every row that fits."""

    figure: str
    where: Where
    bound: float
    joint: ClassVar[str] = ", "

    def effect(self, rows: Sequence[Row]) -> float | None:
        (least,) = self.values(rows)
        return None if least is None else least - self.bound

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [min(numbers(chosen(rows, self.where), self.figure), default=None)]


@dataclass(frozen=True)
class AtMost:
    """The figure is below a bound in every row that fits."""

    figure: str
    where: Where
    bound: float
    joint: ClassVar[str] = ", "

    def effect(self, rows: Sequence[Row]) -> float | None:
        (most,) = self.values(rows)
        return None if most is None else self.bound - most

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [max(numbers(chosen(rows, self.where), self.figure), default=None)]


@dataclass(frozen=True)
class Ratio:
    """The figure here is at most so many times the figure there."""

    figure: str
    low: Where
    high: Where
    at_most: float
    joint: ClassVar[str] = " against "

    def effect(self, rows: Sequence[Row]) -> float | None:
        low, high = self.values(rows)
        return None if low is None or high is None else self.at_most * high - low

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [mean(chosen(rows, where), self.figure) for where in (self.low, self.high)]


@dataclass(frozen=True)
class Fraction:
    """The figure is at most such a part of another figure of the same rows."""

    figure: str
    of: str
    where: Where
    at_most: float
    joint: ClassVar[str] = " against "

    def effect(self, rows: Sequence[Row]) -> float | None:
        part, whole = self.values(rows)
        return None if part is None or whole is None else self.at_most * whole - part

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [mean(chosen(rows, self.where), figure) for figure in (self.figure, self.of)]


@dataclass(frozen=True)
class Least:
    """The figure is least at one value of a key; a run that failed has none, and cannot win."""

    figure: str
    where: Where
    along: str
    at: Any
    joint: ClassVar[str] = ", "

    def effect(self, rows: Sequence[Row]) -> float | None:
        found = dict(along(chosen(rows, self.where), self.along, self.figure))
        best = found.pop(self.at, None)
        return min(found.values()) - best if found and best is not None else None

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [value for _, value in along(chosen(rows, self.where), self.along, self.figure)]


@dataclass(frozen=True)
class Cheapest:
    """Of all rows private enough, one of ours has the least figure, such as the RMSE."""

    figure: str
    ours: Where
    others: Where
    private: str
    at_least: float
    joint: ClassVar[str] = " against "

    def effect(self, rows: Sequence[Row]) -> float | None:
        ours, others = self.values(rows)
        if ours is None and others is None:
            return None
        difference = (inf if others is None else others) - (inf if ours is None else ours)
        # Only one side is private enough at any price.
        return difference if isfinite(difference) else None

    def values(self, rows: Sequence[Row]) -> list[float | None]:
        return [self._least(chosen(rows, where)) for where in (self.ours, self.others)]

    def _least(self, rows: Sequence[Row]) -> float | None:
        enough = [row for row in rows if self._is_private(row)]
        return min(numbers(enough, self.figure), default=None)

    def _is_private(self, row: Row) -> bool:
        return any(value >= self.at_least for value in numbers([row], self.private))


def _slope(values: Sequence[float]) -> float:
    """Of the least-squares line over 0, 1, 2, …; exactly zero for equal values."""
    middle = (len(values) - 1) / 2
    steps = [i - middle for i in range(len(values))]
    # From the first value, because what equal values leave of a sum is rounding, and no slope.
    rise = sum(step * (value - values[0]) for step, value in zip(steps, values, strict=True))
    return rise / sum(step * step for step in steps)


RULES: dict[str, type[Rule]] = {
    "above": Above,
    "order": Order,
    "rises": Rises,
    "falls": Falls,
    "same": Same,
    "same_as": SameAs,
    "at_least": AtLeast,
    "at_most": AtMost,
    "ratio": Ratio,
    "fraction": Fraction,
    "least": Least,
    "cheapest": Cheapest,
}
