"""The squares that a user's messages name, all rounds together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.errors import UserError
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.square_messages import SIGNAL, SQUARES, VISITED, Visits
from veilmap.square_grid import SquareGrid

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class History:
    """What the messages of some rounds say.

    Attributes:
        grid: the public squares.
        rounds: the visits of each round.
    """

    grid: SquareGrid
    rounds: tuple[Visits, ...]

    @classmethod
    def of(cls, header: Header, observations: Sequence[Observation]) -> "History":
        """Of messages of the kriging map.

        Raises:
            UserError: a message is of another kind.
        """
        assert isinstance(header.map, KrigingMap)  # noqa: S101 - else attacks are not asked
        area = header.side_knowledge.area
        visits = tuple(visits_of(header, each) for each in observations)
        return cls(header.map.grid(area), visits)

    @cached_property
    def spoken(self) -> int:
        """The number of rounds in which a square was named."""
        return sum(len(each) > 0 for each in self.rounds)

    @cached_property
    def often(self) -> Floats:
        """Of every square of the grid the number of rounds in which it was named.

        In a sum a visit counts its share of the most that a square of the round has.
        """
        total = np.zeros(len(self.grid))
        for each in self.rounds:
            if len(each):
                total[each.squares] += each.k / each.k.max()
        return total

    @cached_property
    def squares(self) -> NDArray[np.int64]:
        """Those that were ever named."""
        return np.flatnonzero(self.often)

    @cached_property
    def centres_m(self) -> Floats:
        """Of the squares ever named."""
        return self.grid.centres_m(self.squares)


def reads_squares(header: Header) -> bool:
    """For attacks that read messages of the kriging map."""
    return isinstance(header.map, KrigingMap)


def visits_of(header: Header, observation: Observation) -> Visits:
    """The visits that one message names.

    Raises:
        UserError: the message is of another kind.
    """
    assert isinstance(header.map, KrigingMap)  # noqa: S101 - else attacks are not asked
    if set(observation.message) not in ({VISITED, SIGNAL}, {SQUARES, SIGNAL}):
        sent = ", ".join(observation.message)
        raise UserError(
            f"messages of this transcript hold {sent}, and not the squares and signals "
            "that the map kriging sends; write the transcript again"
        )
    return header.map.visits(header.side_knowledge.area, observation.message)


def same_for_all(given: AttackInput, cloud: Cloud | None, seconds: float) -> list[Reconstruction]:
    """One cloud, found from all rounds together, for each of them; None where there is none.

    The location is the cloud's mean.
    """
    each_s = seconds / max(len(given.observations), 1)
    found = [
        Reconstruction.nothing(each)
        if cloud is None
        else Reconstruction.of(each, cloud.mean_m, seconds=each_s, cloud=cloud)
        for each in given.observations
    ]
    given.on_done(len(found))
    return found
