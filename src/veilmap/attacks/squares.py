"""Sums over squares read as they are: they name the squares that a phone visited."""

import time
from dataclasses import dataclass

from veilmap.attacks.attack import AttackInput, one_by_one
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.square_messages import SIGNAL, SQUARES, VISITED


@dataclass(frozen=True)
class Squares:
    """The visited squares of a message of the kriging map, all with the same weight.

    In a secure sum a square weighs as many phones as visited it. The location is the mean.
    """

    name = "squares"
    oracle = False

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return isinstance(header.map, KrigingMap)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """One reconstruction per message."""
        return one_by_one(given, self.one)

    def one(self, header: Header, observation: Observation) -> Reconstruction:
        """The squares of one message."""
        before = time.perf_counter()
        assert isinstance(header.map, KrigingMap)  # noqa: S101 - else it is not asked
        area = header.side_knowledge.area
        if set(observation.message) not in ({VISITED, SIGNAL}, {SQUARES, SIGNAL}):
            sent = ", ".join(observation.message)
            raise UserError(
                f"messages of this transcript hold {sent}, and not the squares and signals "
                "that the map kriging sends; write the transcript again"
            )
        visits = header.map.visits(area, observation.message)
        if not len(visits):
            return Reconstruction.nothing(observation)
        centres_m = header.map.grid(area).centres_m(visits.squares)
        cloud = Cloud(centres_m, visits.k / visits.k.sum())
        seconds = time.perf_counter() - before
        return Reconstruction.of(observation, cloud.mean_m, seconds=seconds, cloud=cloud)
