"""The guess of an attacker who sees no message and knows where people in general are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from veilmap.attacks.attack import AttackInput, one_by_one
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.errors import Checked, UserError
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.metrics.places import find_places
from veilmap.metrics.weighted_points import Points, Weights, point_set_faults


@dataclass(frozen=True, eq=False)
class Density(Checked):
    """Where people in general are: shares of all visits, at public positions.

    Attributes:
        xy_m: the positions, one row (east, north) each.
        weights: how much is there, in any unit.
        source: what it was made from, in words.
        oracle: whether no real server has that.
    """

    xy_m: Points = field(repr=False)
    weights: Weights = field(repr=False)
    source: str
    oracle: bool

    def _faults(self) -> Iterator[UserError]:
        return point_set_faults([self.xy_m], [self.weights])

    @cached_property
    def cloud(self) -> Cloud:
        """The same with shares that sum to 1."""
        return Cloud(self.xy_m, self.weights / self.weights.sum())

    @cached_property
    def heaviest_m(self) -> Points:
        """The middle of the disc that holds most."""
        return np.array(find_places(self.xy_m, self.weights, most=1)[0].xy_m)


@dataclass(frozen=True)
class Prior:
    """The density of everybody else, for every update; the location is its heaviest place."""

    density: Density

    name = "prior"
    oracle_text = "where the other users measured, for the guess prior"

    @property
    def oracle(self) -> bool:
        """Of measurements; the sums that a server has are none."""
        return self.density.oracle

    def reads(self, header: Header) -> bool:
        """Nothing of a message, so any."""
        return True

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The same for each update."""
        return one_by_one(given, self._one)

    def _one(self, header: Header, observation: Observation) -> Reconstruction:
        found, cloud = self.density.heaviest_m, self.density.cloud
        return Reconstruction.of(observation, found, cloud=cloud)
