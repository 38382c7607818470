"""The global optimum of Algorithm 2's objective: a search in the plane, not a walk.

The best dummy label gives F(x') − y' the sign that suits, so the optimum of the cosine over
(x', y') is that of |cos(G, J(x'))| over x' alone. ReLU makes J jump where a unit switches, and
gradient methods stick on such creases; here a coarse grid is looked at whole, then ever smaller
grids around its best places.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.matching import Matching, leaked_gradient
from veilmap.attacks.reconstruction import Reconstruction, one_by_one
from veilmap.errors import UserError, out_of_range, refuse
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header, SideKnowledge

# The area is looked at on a grid of GRID x GRID; around it lie ever larger frames, because the
# optimum of an update that says little may be anywhere, and iterative DLG does go there.
GRID = 24
FRAMES = (3.0, 9.0, 27.0, 81.0)
FRAME_GRID = 12
# So many places stay in the race for so many levels; a level halves the grids around them.
RACE = ((12, 3), (4, 3), (2, 3))
_STENCIL = np.stack(np.meshgrid(*[[-1, -0.5, 0, 0.5, 1]] * 2), -1).reshape(-1, 2)

Places = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """DLG at its limit.

    Attributes:
        inside: look inside the area only, as a server may that knows it. Without, the cosine is
            never below what DLG reaches from any start.
        exact_m: how finely the optimum is located, in metres.
    """

    inside: bool = False
    exact_m: float = 0.01
    oracle = False

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        if not 0 < self.exact_m < np.inf:
            yield out_of_range("exact_m", "above 0 metres", self.exact_m)

    def attack(
        self,
        header: Header,
        observations: Sequence[Observation],
        on_done: Callable[[int], None] = lambda count: None,
    ) -> list[Reconstruction]:
        """One reconstruction per update."""
        return one_by_one(self.one, header, observations, on_done)

    @torch.inference_mode()
    def one(self, header: Header, observation: Observation) -> Reconstruction:
        """The best dummy location for one update."""
        before = time.perf_counter()
        known, gradient = header.side_knowledge, leaked_gradient(observation)
        if not gradient.any():
            return Reconstruction.nothing(observation)
        # The sieve needs no more than float32, which takes half the time.
        sieve, fine = (
            Matching.of(header.network, [observation.weights_before], [gradient], dtype)
            for dtype in (torch.float32, torch.float64)
        )
        places, widths = _coarse(known, () if self.inside else FRAMES)
        best = np.argsort(-_cosines(sieve, places), kind="stable")
        chosen = _apart(places[best], widths[best], RACE[0][0])
        found, cosine = self._zoom(fine, known, places[best][chosen], widths[best][chosen])
        seconds = time.perf_counter() - before
        return Reconstruction.of(
            observation, known.scaler.metres(found), cosine=cosine, seconds=seconds
        )

    def _zoom(
        self, matching: Matching, known: SideKnowledge, places: Places, widths: Places
    ) -> tuple[Places, float]:
        """Grids of 5 x 5 around the places, halved level by level, the worse places left out."""
        cosines = _cosines(matching, places)
        for count in self._counts(known, widths):
            best = np.argsort(-cosines, kind="stable")[:count]
            around = places[best, None] + widths[best, None] * _STENCIL
            if self.inside:
                around = np.clip(around, *_corners(known))
            each = _cosines(matching, around.reshape(-1, 2)).reshape(len(best), -1)
            highest = each.argmax(axis=1)
            rows = np.arange(len(best))
            places, cosines, widths = around[rows, highest], each[rows, highest], widths[best] / 2
        top = int(cosines.argmax())
        return places[top], float(cosines[top])

    def _counts(self, known: SideKnowledge, widths: Places) -> Iterator[int]:
        """How many places are looked at, level by level, until the finest is reached."""
        levels = int(np.ceil(np.log2((widths * known.scaler.scale_m).max() / self.exact_m))) + 1
        race = [count for count, times in RACE for _ in range(times)]
        yield from race[:levels]
        yield from [1] * (levels - len(race))


def _coarse(known: SideKnowledge, frames: tuple[float, ...]) -> tuple[Places, Places]:
    """Candidates, standardised, and half the way to the next of them."""
    low, high = _corners(known)
    middle, half = (low + high) / 2, (high - low) / 2
    places, widths = [], []
    for reach, side in [(1.0, GRID), *((reach, FRAME_GRID) for reach in frames)]:
        steps = (np.arange(side) + 0.5) / side * 2 - 1
        square = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
        places.append(middle + square * half * reach)
        widths.append(np.broadcast_to(half * reach / side, square.shape))
    return np.concatenate(places), np.concatenate(widths)


def _corners(known: SideKnowledge) -> tuple[Places, Places]:
    area, scaler = known.area, known.scaler
    corners_m = np.array([[area.x_min_m, area.y_min_m], [area.x_max_m, area.y_max_m]])
    low, high = (corners_m - scaler.mean_m) / scaler.scale_m
    return low, high


def _apart(places: Places, widths: Places, count: int) -> list[int]:
    """The first of the sorted places that are no neighbours of a better one."""
    chosen: list[int] = []
    for i in range(len(places)):
        if len(chosen) == count:
            break
        near = np.abs(places[chosen] - places[i]) <= 2.1 * np.maximum(widths[chosen], widths[i])
        if not near.all(axis=1).any():
            chosen.append(i)
    return chosen


def _cosines(matching: Matching, places: Places) -> NDArray[np.float64]:
    x: Tensor = torch.from_numpy(places).to(matching.dtype)[None]
    cosines: NDArray[np.float64] = matching.at(x).cosine[0].abs().double().numpy()
    # Far out a product may overflow; such a place is none.
    return np.nan_to_num(cosines, nan=-1.0, posinf=-1.0, neginf=-1.0)
