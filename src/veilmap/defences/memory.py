"""What a phone keeps between rounds for the steps that have to learn."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from veilmap.defences.step import Figures, LearnedStep, PointStep, Turn, as_text
from veilmap.local_data import LocalData

# Learning anew whenever the data have doubled costs at most twice the last time.
OUTGROWN = 2


@dataclass(frozen=True)
class Learned:
    """A step that has learned, and from how many points."""

    step: PointStep
    points: int


@dataclass(frozen=True)
class Memory:
    """The phone's own points of earlier rounds, and what its steps have learned, by their text."""

    past: LocalData | None = None
    learned: Mapping[str, Learned] = field(default_factory=dict)

    def learn(
        self,
        step: LearnedStep,
        present: LocalData,
        public: Mapping[str, LocalData],
        turn: Turn,
    ) -> tuple["Memory", PointStep, Figures]:
        """The step that can act, learned now if it never was or if its data have doubled.

        A phone in its first round has no past; it learns from that round's points.
        """
        own = {turn.user: present if self.past is None else self.past}
        people = public if step.learns_from == "public" else own
        points = sum(len(data) for data in people.values())
        known = self.learned.get(as_text(step))
        if known is not None and points < OUTGROWN * known.points:
            return self, known.step, {}
        acting, figures = step.learn(people, turn)
        learned = {**self.learned, as_text(step): Learned(acting, points)}
        return replace(self, learned=learned), acting, figures

    def after(self, present: LocalData) -> "Memory":
        """With the round that has just ended."""
        past = present if self.past is None else LocalData.join([self.past, present])
        return replace(self, past=past)


NEW = Memory()
