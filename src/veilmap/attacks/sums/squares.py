"""Sums over squares read as they are: they name the squares that a phone visited."""

import time
from dataclasses import dataclass

from veilmap.attacks.attack import AttackInput, one_by_one
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.attacks.sums.history import History, reads_squares
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header


@dataclass(frozen=True)
class Squares:
    """The visited squares of a message of the kriging map, all with the same weight.

    In a secure sum a square weighs as many phones as visited it. The location is the mean.
    """

    name = "squares"
    oracle = False

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return reads_squares(header)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per message."""
        return one_by_one(given, self.one)

    def one(self, header: Header, observation: Observation) -> Reconstruction:
        """The squares of one message."""
        before = time.perf_counter()
        history = History.of(header, [observation])
        (visits,) = history.rounds
        if not len(visits):
            return Reconstruction.nothing(observation)
        cloud = Cloud(history.grid.centres_m(visits.squares), visits.k / visits.k.sum())
        seconds = time.perf_counter() - before
        return Reconstruction.of(observation, cloud.mean_m, seconds=seconds, cloud=cloud)
