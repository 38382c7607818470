"""The middle of all visits: the visited square from which the others are nearest."""

import time
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.attacks.sums.history import Floats, History, reads_squares, same_for_all
from veilmap.federation.side_knowledge import Header

# Those visited most: a sum of many phones names most squares of the area.
MOST_SQUARES = 2000


@dataclass(frozen=True)
class Medoid:
    """The visited square with the least mean distance to all visits of all rounds.

    A square counts as often as rounds name it; of more than 2,000 squares those visited most.
    Unlike the mean it is a square that was visited, and few long trips do not move it.
    """

    name = "medoid"
    oracle = False
    all_at_once = True

    def reads(self, header: Header) -> bool:
        """Messages of the kriging map alone."""
        return reads_squares(header)

    def attack(self, given: AttackInput) -> list[Reconstruction]:
        """The same location for every message."""
        before = time.perf_counter()
        history = History.of(given.header, given.observations)
        place_m = medoid_m(history)
        cloud = None if place_m is None else Cloud.at(place_m)
        return same_for_all(given, cloud, time.perf_counter() - before)


def medoid_m(history: History) -> Floats | None:
    """Its centre; None if no square was visited. Of equals the most southern."""
    often = history.often[history.squares]
    if not len(often):
        return None
    most = np.sort(np.argsort(-often, kind="stable")[:MOST_SQUARES])
    centres_m = history.centres_m[most]
    away_m: Floats = cdist(centres_m, centres_m) @ often[most]
    found: Floats = centres_m[away_m.argmin()]
    return found
