"""How ``Search`` finds the global optimum of Algorithm 2's objective.

The best dummy label gives F(x') − y' the sign that suits, so the optimum of the cosine over
(x', y') is that of |cos(G, J(x'))| over x' alone. ReLU makes J jump where a unit switches, and
gradient methods stick on such creases; here a coarse grid is looked at whole, and its best places
climb by looking around them. Creases make many small tops of nearly one height near the highest;
docs/performance.md says how far below it the search ends.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching.device_transfer import staged
from veilmap.attacks.gradient_matching.initial_grid import Coarse, corners
from veilmap.attacks.gradient_matching.local_search import Climb, Climbers, climb, cosines_at
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import torch_device

Places = NDArray[np.float64]

# A unit is a crease across the plane; where each layer has many, each crease is small and the
# objective smooth. A small layer is rough, and a finer grid costs a small network little.
SMOOTH_UNITS = 100
# A race is a number of steps; the best of one go on in the next.
STEPS = (2, 2, 6, 40)


@dataclass(frozen=True)
class _Effort:
    """Squares along a side of the area and of a frame, and how many places climb in each race."""

    side: int
    frame_side: int
    races: tuple[int, int, int, int]


_SMOOTH = _Effort(12, 6, (8, 4, 2, 1))
_ROUGH = _Effort(32, 16, (24, 12, 4, 2))


@torch.inference_mode()
def find_optima(search: Search, given: AttackInput) -> list[Reconstruction]:
    """One reconstruction per update."""
    header, device = given.header, torch_device(given.device)
    finder, scaler = _Finder(search, header, device), header.side_knowledge.scaler
    found: list[Reconstruction] = []
    before = time.perf_counter()
    for chunk in staged(given.observations, device):
        places, cosines = finder.find(chunk.matching(header.network))
        seconds = (time.perf_counter() - before) / len(places)
        places_m = scaler.metres(places)
        found += [
            _reconstruction(each, xy_m, cosine, seconds)
            for each, xy_m, cosine in zip(chunk.observations, places_m, cosines, strict=True)
        ]
        given.on_done(len(places))
        before = time.perf_counter()
    return found


class _Finder:
    """What all updates of one area have in common."""

    def __init__(self, search: Search, header: Header, device: torch.device) -> None:
        known = header.side_knowledge
        effort = _SMOOTH if min(header.network.hidden) >= SMOOTH_UNITS else _ROUGH
        self._races = effort.races
        self._coarse = Coarse.over(known, effort.side, effort.frame_side, inside=search.inside)
        self._coarse = self._coarse.to(device)
        scale_m = torch.tensor(known.scaler.scale_m, dtype=torch.float64, device=device)
        self._exact = search.exact_m / scale_m
        self._bounds = tuple(corners(known).to(device)) if search.inside else None

    def find(self, matching: Matching) -> tuple[Places, list[float]]:
        """The best dummy location of each update, standardised, and the cosine there."""
        sieve = matching.to(torch.float32)
        seen = cosines_at(sieve, self._coarse.places[None])
        places, widths = self._coarse.best(seen, self._races[0])
        for climb_on, count, steps in zip(
            _climbs(matching, sieve), self._races, STEPS, strict=True
        ):
            climbers = Climbers.at(places[:, :count], widths[:, :count])
            climbers = climb_on(climbers, steps, self._exact, self._bounds)
            places, widths = climbers.ranked()
        found, cosines = climbers.winners()
        return found.cpu().numpy(), cosines.tolist()


def _climbs(matching: Matching, sieve: Matching) -> list[Climb]:
    """One for each race, the first in float32: over long ways it takes the least time."""
    rest: Climb = partial(climb, matching)
    if matching.device.type == "cpu" and matching.network.is_piecewise:
        with suppress(ImportError):  # numba is not installed, or not for this numpy
            from veilmap.attacks.gradient_matching.compiled_local_search import CompiledClimb

            rest = CompiledClimb(matching)
    return [partial(climb, sieve), rest, rest, rest]


def _reconstruction(
    observation: Observation, xy_m: Places, cosine: float, seconds: float
) -> Reconstruction:
    if not cosine:  # then it is 0 everywhere
        return Reconstruction.nothing(observation)
    return Reconstruction.of(observation, xy_m, cosine=cosine, seconds=seconds)
