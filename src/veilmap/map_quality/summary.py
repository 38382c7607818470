"""Figures of a predictor over the seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from veilmap.map_quality.predictors import Kind
from veilmap.map_quality.rows import QualityRow


@dataclass(frozen=True)
class Range:
    """A mean over seeds, and the least and the most."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True)
class Summary:
    """A predictor's rows, one per seed."""

    predictor: str
    kind: Kind
    rows: tuple[QualityRow, ...]

    def range(self, figure: str) -> Range | None:
        """Over the seeds where it is defined; None if there is none."""
        found = [row.figure(figure) for row in self.rows]
        values = [value for value in found if value is not None]
        return Range(fmean(values), min(values), max(values)) if values else None

    def mean(self, figure: str) -> float | None:
        """Over the seeds where it is defined."""
        found = self.range(figure)
        return None if found is None else found.mean


def best_of(summaries: Sequence[Summary], kind: Kind) -> Summary | None:
    """The one of a kind with the highest mean skill by place; None if there is none of it."""
    own = [each for each in summaries if each.kind == kind]
    return max(own, key=lambda each: each.mean("skill_by_place") or 0, default=None)


def summarise(rows: Sequence[QualityRow]) -> tuple[Summary, ...]:
    """One per predictor, in the order of the rows."""
    kinds = {row.predictor: row.kind for row in rows}
    return tuple(
        Summary(name, kind, tuple(row for row in rows if row.predictor == name))
        for name, kind in kinds.items()
    )
