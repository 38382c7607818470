"""Where people in general are, which attackers know besides the messages of their target."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from veilmap.attacks.reconstruction import Cloud
from veilmap.errors import Checked, UserError
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
