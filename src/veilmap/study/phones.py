"""What the defences did on all phones in all rounds, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from veilmap.defences.defence import Report
from veilmap.defences.returned import returned_spent
from veilmap.defences.step import Figures, Spending, Step
from veilmap.strategy import as_text

Diary = Sequence[Mapping[str, tuple[Report, ...]]]  # round by round, by user


@dataclass(frozen=True)
class StepSummary:
    """One step over all turns.

    Attributes:
        step: in text.
        turns: how often phones took it.
        points_before: that a turn gave it, on average.
        points: that it left, on average.
        kept_share: of all points of all turns; None if no turn had any.
        kept_whole: turns that had fewer points than the step was asked for, and so kept all.
        centroid_moved_m: median over turns; None if no turn left a point.
        seconds: of a turn, on average, without learning.
        seconds_max: of the longest turn.
        peak_mb: the most memory held in a turn, without learning.
        learned: in how many turns it had to learn.
        learning_seconds: of all of them together.
        figures: specific to this step, each averaged over the turns that have it.
        spent: of the privacy budget, by the user who spent most.
    """

    step: str
    turns: int
    points_before: float
    points: float
    kept_share: float | None
    kept_whole: int
    centroid_moved_m: float | None
    seconds: float
    seconds_max: float
    peak_mb: float
    learned: int
    learning_seconds: float
    # Whole numbers stay whole when they are read back.
    figures: Mapping[str, int | float] = field(default_factory=dict)
    spent: Mapping[str, int | float] = field(default_factory=dict)


def summarise(steps: Sequence[Step], diary: Diary) -> tuple[StepSummary, ...]:
    """One summary per step that any phone took."""
    found = []
    for step in steps:
        of_user: dict[str, list[Report]] = {}
        for this in diary:
            for user, reports in this.items():
                of_user.setdefault(user, []).extend(r for r in reports if r.step == as_text(step))
        taken = [report for reports in of_user.values() for report in reports]
        if taken:
            found.append(_summary(step, taken, of_user))
    return tuple(found)


def _summary(
    step: Step, taken: Sequence[Report], of_user: Mapping[str, Sequence[Report]]
) -> StepSummary:
    moved_m = [each.centroid_moved_m for each in taken if each.centroid_moved_m is not None]
    learned_s = [each.learning_seconds for each in taken if each.learning_seconds is not None]
    before, after = sum(each.points_before for each in taken), sum(each.points for each in taken)
    return StepSummary(
        step=as_text(step),
        turns=len(taken),
        points_before=before / len(taken),
        points=after / len(taken),
        kept_share=after / before if before else None,
        kept_whole=sum(r.points == r.points_before < r.figures.get("asked", 0) for r in taken),
        centroid_moved_m=median(moved_m) if moved_m else None,
        seconds=fmean(each.seconds for each in taken),
        seconds_max=max(each.seconds for each in taken),
        peak_mb=max(each.peak_mb for each in taken),
        learned=len(learned_s),
        learning_seconds=sum(learned_s, 0.0),
        figures=_means([each.figures for each in taken]),
        spent=_most_spent(step, of_user),
    )


def _means(figures: Sequence[Figures]) -> Figures:
    names = dict.fromkeys(name for each in figures for name in each)
    return {name: fmean(each[name] for each in figures if name in each) for name in names}


def _most_spent(step: Step, of_user: Mapping[str, Sequence[Report]]) -> Figures:
    if not isinstance(step, Spending):
        return {}
    spent = [
        returned_spent(step, step.spent([each.figures for each in reports]))
        for reports in of_user.values()
        if reports
    ]
    names = dict.fromkeys(name for each in spent for name in each)
    return {name: max(each[name] for each in spent if name in each) for name in names}
