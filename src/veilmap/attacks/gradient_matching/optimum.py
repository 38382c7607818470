"""How ``Search`` finds the global optimum of Algorithm 2's objective.

The best dummy label gives F(x') − y' the sign that suits, so the optimum of the cosine over
(x', y') is that of |cos(G, J(x'))| over x' alone. ReLU makes J jump where a unit switches, and
gradient methods get stuck on such creases. Here the objective is evaluated on a whole grid, and
local searches start from its best places. Creases make many small maxima of nearly the same height
near the global one; docs/performance.md says how far below it the search ends.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching.device_transfer import transferred
from veilmap.attacks.gradient_matching.initial_grid import InitialGrid, corners
from veilmap.attacks.gradient_matching.local_search import (
    LocalSearch,
    SearchPoints,
    cosines_at,
    local_search,
)
from veilmap.attacks.gradient_matching.matching import Objective
from veilmap.attacks.gradient_matching.objective import piecewise
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.federation.side_knowledge import Header
from veilmap.model.device import torch_device
from veilmap.model.network import Network

# A unit is a crease across the plane. With many units per layer each crease is small and the
# objective smooth; with few it is rough, and a finer grid is cheap.
SMOOTH_UNITS = 100
# Successive halving: after so many steps only the best points of a stage enter the next.
STEPS = (2, 2, 6, 40)


@dataclass(frozen=True)
class _Effort:
    """Squares along a side of the area and of a frame, and how many points each stage has."""

    side: int
    frame_side: int
    points: tuple[int, int, int, int]


_SMOOTH = _Effort(12, 6, (8, 4, 2, 1))
_ROUGH = _Effort(32, 16, (24, 12, 4, 2))


@torch.inference_mode()
def find_optima(search: Search, given: AttackInput) -> list[Reconstruction]:
    """One reconstruction per update."""
    header, device = given.header, torch_device(given.device)
    finder = _Finder(search, header, device)
    found: list[Reconstruction] = []
    before = time.perf_counter()
    for chunk in transferred(given.observations, device):
        places_m, cosines = finder.find(chunk.objective(header))
        seconds = (time.perf_counter() - before) / len(cosines)
        for each, xy_m, cosine in zip(chunk.observations, places_m, cosines, strict=True):
            if cosine:
                found.append(Reconstruction.of(each, xy_m, cosine=cosine, seconds=seconds))
            else:  # it is 0 everywhere
                found.append(Reconstruction.nothing(each))
        given.on_done(len(cosines))
        before = time.perf_counter()
    return found


class _Finder:
    """What all updates of one area share."""

    def __init__(self, search: Search, header: Header, device: torch.device) -> None:
        known = header.side_knowledge
        units = header.map.hidden if isinstance(header.map, Network) else (0,)
        effort = _SMOOTH if min(units) >= SMOOTH_UNITS else _ROUGH
        self._scaler, self._counts = known.scaler, effort.points
        grid = InitialGrid.over(known, effort.side, effort.frame_side, inside=search.inside)
        self._grid = grid.to(device)
        scale_m = torch.tensor(known.scaler.scale_m, dtype=torch.float64, device=device)
        self._exact = search.exact_m / scale_m
        self._bounds = tuple(corners(known).to(device)) if search.inside else None

    def find(self, matching: Objective) -> tuple[NDArray[np.float64], list[float]]:
        """The best dummy location of each update in metres, and the cosine there."""
        single = matching.to(torch.float32)
        seen = cosines_at(single, self._grid.places[None])
        places, widths = self._grid.best(seen, self._counts[0])
        stages = zip(_searches(matching, single), self._counts, STEPS, strict=True)
        for search, count, steps in stages:
            points = SearchPoints.at(places[:, :count], widths[:, :count])
            points = search(points, steps, self._exact, self._bounds)
            places, widths = points.ranked()
        found, cosines = points.winners()
        return self._scaler.metres(found.cpu().numpy()), cosines.tolist()


def _searches(matching: Objective, single: Objective) -> list[LocalSearch]:
    """One for each stage, the first in float32, which is fastest over long distances."""
    precise: LocalSearch = partial(local_search, matching)
    if dense := piecewise(matching):
        with suppress(ImportError):  # numba is not installed, or not for this numpy
            from veilmap.attacks.gradient_matching.compiled_local_search import CompiledLocalSearch

            precise = CompiledLocalSearch(dense)
    return [partial(local_search, single), precise, precise, precise]
