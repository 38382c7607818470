"""What a phone keeps between rounds for the steps that have to learn."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from veilmap.defences.returned import returned_lesson
from veilmap.defences.step import Figures, LearnedStep, PointStep, Turn
from veilmap.errors import UserError
from veilmap.foreign_arrays import read_only_for
from veilmap.local_data import LocalData
from veilmap.strategy import as_text

# Learn again whenever the data have doubled: ten times for a thousandfold past.
OUTGROWN = 2


@dataclass(frozen=True)
class Experience:
    """One step's: the points that reached it in earlier rounds, and what it learned from how many.

    What reached it, and not what was measured: a step before it may have moved the points, and
    its promise must hold for what is learned from them too.
    """

    past: LocalData | None = None
    acting: PointStep | None = None
    learned_from: int = 0


@dataclass(frozen=True)
class Lesson:
    """A step ready to act, with figures and duration of learning (empty if done before)."""

    acting: PointStep
    figures: Figures = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True)
class Memory:
    """The experience of each step that learns, by its text."""

    steps: Mapping[str, Experience] = field(default_factory=dict)

    def learn(
        self, step: LearnedStep, present: LocalData, public: Mapping[str, LocalData], turn: Turn
    ) -> tuple["Memory", Lesson]:
        """The step that can act, learned now if it never was or if its data have doubled.

        A phone in its first round has no past; it learns from that round's points.
        """
        known = self.steps.get(as_text(step), Experience())
        people = _people(step, known.past or present, public, turn)
        points = sum(len(data) for data in people.values())
        if known.acting is None or points >= OUTGROWN * known.learned_from:
            began = time.perf_counter()
            acting, figures = returned_lesson(step, step.learn(read_only_for(step, people), turn))
            lesson = Lesson(acting, figures, time.perf_counter() - began)
            known = replace(known, acting=acting, learned_from=points)
        else:
            lesson = Lesson(known.acting)
        if step.learns_from == "past":
            past = present if known.past is None else LocalData.join([known.past, present])
            known = replace(known, past=past)
        return Memory({**self.steps, as_text(step): known}), lesson


def _people(
    step: LearnedStep, own: LocalData, public: Mapping[str, LocalData], turn: Turn
) -> Mapping[str, LocalData]:
    if step.learns_from == "past":
        return {turn.user: own}
    others = {user: data for user, data in public.items() if user != turn.user}
    if not others:
        raise UserError(
            f"{step.name} learns from a public sample of other users and there are none; choose "
            "learns_from=past"
        )
    return others


NEW = Memory()
