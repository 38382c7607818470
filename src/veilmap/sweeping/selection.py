"""Rows of figures, and those among them that a claim or a picture speaks of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import Any, TypeVar

from veilmap.metrics.rows import FigureRow, HasFigures

Where = Mapping[str, Any]
Row = TypeVar("Row", bound=HasFigures)


@dataclass(frozen=True)
class SweepRow:
    """A row of a trial with the keys of its run; a published number is keys alone."""

    keys: Mapping[str, Any]
    row: FigureRow | None = None

    def value(self, name: str) -> Any:
        """Of a key, or of the row; None if neither has it."""
        if name in self.keys or self.row is None:
            return self.keys.get(name)
        return self.row.value(name)

    def figure(self, name: str) -> float | None:
        """If it is there, known and finite."""
        value = self.value(name)
        is_known = isinstance(value, int | float) and isfinite(value)
        return float(value) if is_known else None


def chosen(rows: Sequence[SweepRow], where: Where) -> list[SweepRow]:
    """The rows whose keys have these values; a list allows each of its values."""
    return [row for row in rows if fits(row.value, where)]


def agreeing(rows: Sequence[SweepRow], where: Where) -> list[SweepRow]:
    """The rows that do not say otherwise; one without a key fits every value of it."""
    return [
        row
        for row in rows
        if all(row.value(key) is None or _fits(row.value(key), want) for key, want in where.items())
    ]


def numbers(rows: Sequence[HasFigures], figure: str) -> list[float]:
    """The figure of each row that has it."""
    values = (row.figure(figure) for row in rows)
    return [value for value in values if value is not None]


def mean(rows: Sequence[SweepRow], figure: str) -> float | None:
    """Over the rows that have the figure; None if none has."""
    values = numbers(rows, figure)
    return fmean(values) if values else None


def by_value(rows: Sequence[Row], key: str) -> dict[Any, list[Row]]:
    """The rows by what they have under a key, in their order."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(row.value(key), []).append(row)
    return found


def values(rows: Sequence[SweepRow], key: str) -> list[Any]:
    """The values of a key, each once, in the order of the rows."""
    found = dict.fromkeys(row.value(key) for row in rows)
    return [value for value in found if value is not None]


def along(rows: Sequence[SweepRow], key: str, figure: str) -> dict[Any, float]:
    """The mean figure for every value of a key that has one, in the order of the rows."""
    means = {each: mean(chosen(rows, {key: each}), figure) for each in values(rows, key)}
    return {each: value for each, value in means.items() if value is not None}


def fits(value_of: Any, where: Where) -> bool:
    """Whether keys, looked up by ``value_of``, have these values."""
    return all(_fits(value_of(key), want) for key, want in where.items())


def _fits(value: Any, want: Any) -> bool:
    return value in want if isinstance(want, list) else bool(value == want)
