"""Rows of figures, and those among them that a claim or a picture speaks of."""

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import Any

Row = Mapping[str, Any]
Where = Mapping[str, Any]


def chosen(rows: Sequence[Row], where: Where) -> list[Row]:
    """The rows whose keys have these values; a list allows each of its values."""
    return [row for row in rows if all(_fits(row.get(key), want) for key, want in where.items())]


def agreeing(rows: Sequence[Row], where: Where) -> list[Row]:
    """The rows that do not say otherwise; one without a key fits every value of it."""
    return [
        row
        for row in rows
        if all(_fits(row[key], want) for key, want in where.items() if key in row)
    ]


def numbers(rows: Sequence[Row], figure: str) -> list[float]:
    """The figure of each row that has it."""
    values = (row.get(figure) for row in rows)
    return [float(value) for value in values if value is not None and isfinite(value)]


def mean(rows: Sequence[Row], figure: str) -> float | None:
    """Over the rows that have the figure; None if none has."""
    values = numbers(rows, figure)
    return fmean(values) if values else None


def along(rows: Sequence[Row], key: str, figure: str) -> list[tuple[Any, float]]:
    """The mean figure for every value of a key that has one, in the order of the rows."""
    places = dict.fromkeys(row[key] for row in rows if key in row)
    means = ((place, mean(chosen(rows, {key: place}), figure)) for place in places)
    return [(place, value) for place, value in means if value is not None]


def _fits(value: Any, want: Any) -> bool:
    return value in want if isinstance(want, list) else bool(value == want)
