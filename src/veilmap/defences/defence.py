"""The steps of a defence one after the other, with a report of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from veilmap.defences.combinations import combination_faults
from veilmap.defences.cost import measured
from veilmap.defences.memory import NEW, Memory
from veilmap.defences.step import Figures, LearnedStep, PointStep, Step, Turn, UpdateStep, as_text
from veilmap.errors import UserError, refuse
from veilmap.local_data import LocalData
from veilmap.model.network import Floats


@dataclass(frozen=True)
class Report:
    """What one step did on one phone in one round.

    Attributes:
        step: the step in text.
        points_before: that it was given.
        points: that it left.
        centroid_moved_m: by this step; None where it left no points.
        seconds: on the phone, without what it took to learn.
        peak_mb: the most memory that it held.
        figures: what only this step can tell.
    """

    step: str
    points_before: int
    points: int
    centroid_moved_m: float | None
    seconds: float
    peak_mb: float
    figures: Figures


@dataclass(frozen=True)
class Defence:
    """What phones do before they send.

    Attributes:
        steps: in the order in which they are taken; none by default.
        users: who takes the steps; None is everybody.
        public: a sample of measurements by user, for steps that learn from it.
    """

    steps: tuple[Step, ...] = ()
    users: tuple[str, ...] | None = None
    public: Mapping[str, LocalData] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        refuse(combination_faults(self.steps))
        if not self.public and any(_learns_from(step, "public") for step in self.steps):
            raise UserError("a step learns from a public sample and there is none; give public")

    def of(self, user: str) -> tuple[Step, ...]:
        """The steps that this user takes."""
        return self.steps if self.users is None or user in self.users else ()

    def local_batch(
        self, data: LocalData, turn: Turn, memory: Memory = NEW
    ) -> tuple[LocalData, tuple[Report, ...], Memory]:
        """Line 16 of Algorithm 1: LocalBatch from D_t^k; it may come out empty."""
        batch, reports = data, []
        for step in self.of(turn.user):
            learning: Figures = {}
            if isinstance(step, LearnedStep):
                memory, acting, learning = memory.learn(step, data, self.public, turn)
            elif isinstance(step, PointStep):
                acting = step
            else:
                continue
            with measured() as cost:
                after, figures = acting.on_points(batch, turn)
            moved_m, figures = _moved_m(batch, after), {**learning, **figures}
            sizes = len(batch), len(after)
            reports.append(
                Report(as_text(step), *sizes, moved_m, cost.seconds, cost.peak_mb, figures)
            )
            batch = after
        if any(_learns_from(step, "past") for step in self.of(turn.user)):
            memory = memory.after(data)
        return batch, tuple(reports), memory

    def update(self, update: Floats, n: int, turn: Turn) -> tuple[Floats, tuple[Report, ...]]:
        """What is sent in place of w_t^k − w_{t-1}, which came from n points."""
        reports = []
        for step in self.of(turn.user):
            if isinstance(step, UpdateStep):
                with measured() as cost:
                    update, figures = step.on_update(update, turn)
                reports.append(
                    Report(as_text(step), n, n, 0.0, cost.seconds, cost.peak_mb, figures)
                )
        return update, tuple(reports)


def _learns_from(step: Step, source: str) -> bool:
    return isinstance(step, LearnedStep) and step.learns_from == source


def _moved_m(before: LocalData, after: LocalData) -> float | None:
    if not len(after):
        return None
    return float(np.hypot(*(after.centroid_m - before.centroid_m)))
