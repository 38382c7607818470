"""The steps of a defence one after the other, with a report of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from veilmap.defences.combinations import combination_faults
from veilmap.defences.cost import measured
from veilmap.defences.memory import NEW, Lesson, Memory
from veilmap.defences.returned import returned_points, returned_update
from veilmap.defences.step import Figures, LearnedStep, PointStep, Step, Turn, UpdateStep
from veilmap.errors import refuse
from veilmap.foreign_arrays import read_only_for
from veilmap.local_data import LocalData
from veilmap.model.network import Floats
from veilmap.strategy import as_text


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one step did on one phone in one round.

    Attributes:
        step: the step in text.
        points_before: that it was given.
        points: that it left.
        centroid_moved_m: by this step; None where it left no points or does not act on points.
        seconds: on the phone, without learning.
        peak_mb: the most memory that it held, without learning.
        learning_seconds: None if it did not have to learn in this turn.
        figures: specific to this step.
    """

    step: str
    points_before: int
    points: int
    centroid_moved_m: float | None = None
    seconds: float
    peak_mb: float
    learning_seconds: float | None = None
    figures: Figures


@dataclass(frozen=True)
class Defence:
    """What phones do before they send.

    Attributes:
        steps: in the order in which they are taken; none by default.
        users: the users who take the steps; None for all.
        public: a sample of measurements by user, for steps that learn from it.
    """

    steps: tuple[Step, ...] = ()
    users: tuple[str, ...] | None = None
    public: Mapping[str, LocalData] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        refuse(combination_faults(self.steps))

    def of(self, user: str) -> tuple[Step, ...]:
        """The steps that this user takes."""
        return self.steps if self.users is None or user in self.users else ()

    def local_batch(
        self, data: LocalData, turn: Turn, memory: Memory = NEW
    ) -> tuple[LocalData, tuple[Report, ...], Memory]:
        """Line 16 of Algorithm 1: LocalBatch from D_t^k; it may come out empty."""
        batch, reports = data, []
        for step in self.of(turn.user):
            if isinstance(step, LearnedStep) and len(batch):
                memory, lesson = memory.learn(step, batch, self.public, turn)
            elif isinstance(step, PointStep):
                lesson = Lesson(step)
            else:
                continue
            batch, report = _act(step, lesson, batch, turn)
            reports.append(report)
        return batch, tuple(reports), memory

    def update(self, update: Floats, n: int, turn: Turn) -> tuple[Floats, tuple[Report, ...]]:
        """What is sent in place of w_t^k − w_{t-1}, which came from n points."""
        reports = []
        for step in self.of(turn.user):
            if isinstance(step, UpdateStep):
                update, report = _apply_to_update(step, update, n, turn)
                reports.append(report)
        return update, tuple(reports)


def _act(step: Step, lesson: Lesson, batch: LocalData, turn: Turn) -> tuple[LocalData, Report]:
    given = read_only_for(lesson.acting, batch)
    returned, cost = measured(lambda: lesson.acting.on_points(given, turn))
    after, figures = returned_points(step, batch, returned)
    return after, Report(
        step=as_text(step),
        points_before=len(batch),
        points=len(after),
        centroid_moved_m=_moved_m(batch, after),
        learning_seconds=lesson.seconds,
        figures={**lesson.figures, **figures},
        **vars(cost),
    )


def _apply_to_update(step: UpdateStep, update: Floats, n: int, turn: Turn) -> tuple[Floats, Report]:
    given = read_only_for(step, update)
    returned, cost = measured(lambda: step.on_update(given, turn))
    sent, figures = returned_update(step, update, returned)
    report = Report(step=as_text(step), points_before=n, points=n, figures=figures, **vars(cost))
    return sent, report


def _moved_m(before: LocalData, after: LocalData) -> float | None:
    if not len(after):
        return None
    return float(np.hypot(*(after.centroid_m - before.centroid_m)))
