"""What messages of sums say of a candidate that they leave out: the hole around it."""

from dataclasses import dataclass

import numpy as np

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.sums.density import density_on
from veilmap.attacks.sums.history import Floats, History, reads_squares
from veilmap.attacks.sums.zone_centre import ZoneCentre, nearest_by_direction_m, zones_of
from veilmap.federation.side_knowledge import Header

FARTHEST_M = 1000.0
RANKS = (0, 3, 6, 9)  # of twelve directions, the one with the nearest visit first
RIM_M = 40.0
TINY = 1e-9


@dataclass(frozen=True)
class HoleFeatures:
    """The posterior of home behind a secret zone, and the visits around the candidate's hole."""

    name = "holes"

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return reads_squares(header)

    def of(self, given: AttackInput, candidates_m: Floats) -> Floats:
        """Distances to visits by direction, and how many directions meet the hole's rim."""
        history = History.of(given.header, given.observations)
        if not len(history.squares):
            return np.full((len(candidates_m), len(RANKS) + 2), np.nan)
        zones = zones_of(given.header.side_knowledge)
        chances = ZoneCentre().of(history, density_on(history.grid, None), zones)
        logs = np.log(np.maximum(chances / chances.max(), TINY))
        at = history.grid.nearest(candidates_m)
        nearest_m = np.sort(nearest_by_direction_m(history)[at], axis=1)
        rim = (nearest_m <= nearest_m[:, :1] + RIM_M).sum(axis=1)
        reached_m = np.minimum(nearest_m[:, RANKS], FARTHEST_M)
        return np.column_stack([logs[at], reached_m, rim])
