"""What all defences have in common: a step of one of three kinds that says what it did."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from veilmap.area import Area
from veilmap.local_data import LocalData, Scaler
from veilmap.model.network import Floats
from veilmap.strategy import Named
from veilmap.streams import stream

Figures = Mapping[str, float]  # by name with its unit
Source = Literal["past", "public"]
LooksAt = Literal["nothing", "positions"]
Moves = Literal["nothing", "by rule", "at random"]
JOINED_BY = " + "  # steps in a text


@dataclass(frozen=True)
class Turn:
    """A phone's turn: whose it is, in which round, the root seed, and what is public.

    One map is trained per ``cell``, and a phone may have several: noise that came twice would be
    taken away by a difference.
    """

    user: str
    round: int
    seed: int
    area: Area
    scaler: Scaler
    cell: str = ""

    def stream(self, purpose: str) -> np.random.Generator:
        """The random numbers of this phone in this cell and round for one purpose."""
        return stream(self.seed, purpose, self.cell, self.user, self.round)


Step = Named  # whichever of the kinds below it is


@runtime_checkable
class PointStep(Step, Protocol):
    """Line 16 of Algorithm 1: from the round's points to those that are trained on."""

    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, Figures]:
        """The points to continue with, and what was done to them. An empty batch stays empty."""


@runtime_checkable
class UpdateStep(Step, Protocol):
    """After line 22: from w_t^k − w_{t-1} to what is sent in its place."""

    def on_update(self, update: Floats, turn: Turn) -> tuple[Floats, Figures]:
        """The update to send, and what was done to it."""


@runtime_checkable
class LearnedStep(Step, Protocol):
    """A step that must learn from data before it can act on points."""

    @property
    def learns_from(self) -> Source:
        """Whose data: the phone's own of past rounds, or a public sample."""

    def learn(self, people: Mapping[str, LocalData], turn: Turn) -> tuple[PointStep, Figures]:
        """The step that acts on points, and what learning it took."""


@runtime_checkable
class Spending(Protocol):
    """A step with a privacy budget."""

    def spent(self, turns: Sequence[Figures]) -> Figures:
        """By one user in all its turns together, from the figures of each."""
