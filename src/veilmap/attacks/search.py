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
# So many places are looked at for so many levels in float32, a level halves the grids around them;
PLACES, SIEVED = 12, 3
# and then so many of them for so many levels in float64, before the best is left alone.
RACE = ((4, 3), (2, 3))
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
        # The sieve needs no more than float32, which takes half the time. Its noise, 1e-7, hides
        # differences over some metres; from there on it is float64.
        sieve, fine = (
            Matching.of(header.network, [observation.weights_before], [gradient], dtype)
            for dtype in (torch.float32, torch.float64)
        )
        places, widths = _coarse(known, () if self.inside else FRAMES)
        best = np.argsort(-_cosines(sieve, places), kind="stable")
        chosen = _apart(places[best], widths[best], PLACES)
        sieved = _Race(sieve, known, places[best][chosen], widths[best][chosen], self.inside)
        for _ in range(SIEVED):
            sieved.halve(len(chosen))
        race = _Race(fine, known, sieved.places, sieved.widths, self.inside)
        for count in self._counts(known, race.widths):
            race.halve(count)
        found, cosine = race.winner()
        seconds = time.perf_counter() - before
        return Reconstruction.of(
            observation, known.scaler.metres(found), cosine=cosine, seconds=seconds
        )

    def _counts(self, known: SideKnowledge, widths: Places) -> Iterator[int]:
        """How many places are looked at, level by level, until the finest is reached."""
        levels = int(np.ceil(np.log2((widths * known.scaler.scale_m).max() / self.exact_m))) + 1
        race = [count for count, times in RACE for _ in range(times)]
        yield from race[:levels]
        yield from [1] * (levels - len(race))


class _Race:
    """Places with grids of 5 x 5 around them, halved level by level, the worse places left out."""

    def __init__(
        self, matching: Matching, known: SideKnowledge, places: Places, widths: Places, inside: bool
    ) -> None:
        self.places, self.widths = places, widths
        self._matching = matching
        self._corners = _corners(known) if inside else None
        self._cosines = _cosines(matching, places)
        self._seen = np.full((len(places), 5, 5), np.nan)
        self._seen[:, 2, 2] = self._cosines

    def halve(self, count: int) -> None:
        """Go on with the best ``count`` places, from each to the best of the grid around it."""
        best = np.argsort(-self._cosines, kind="stable")[:count]
        around = self.places[best, None] + self.widths[best, None] * _STENCIL
        seen = self._seen[best].reshape(len(best), -1)
        if self._corners is not None:
            around = np.clip(around, *self._corners)
            # A grid that was clipped does not lie on the next one.
            seen[:] = np.nan
        new = np.isnan(seen)
        seen[new] = _cosines(self._matching, around[new])
        rows, highest = np.arange(len(best)), seen.argmax(axis=1)
        self.places, self.widths = around[rows, highest], self.widths[best] / 2
        self._cosines = seen[rows, highest]
        self._seen = _next_seen(seen.reshape(-1, 5, 5), highest)

    def winner(self) -> tuple[Places, float]:
        top = int(self._cosines.argmax())
        return self.places[top], float(self._cosines[top])


def _next_seen(seen: Places, highest: NDArray[np.intp]) -> Places:
    """What is known on the grids around the highest: every other point, as far as this one goes."""
    following = np.full_like(seen, np.nan)
    padded = np.pad(seen, ((0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    for place, (row, column) in enumerate(zip(*np.divmod(highest, 5), strict=True)):
        following[place, ::2, ::2] = padded[place, row : row + 3, column : column + 3]
    return following


def _coarse(known: SideKnowledge, frames: tuple[float, ...]) -> tuple[Places, Places]:
    """Candidates, standardised, and half the way to the next of them."""
    low, high = _corners(known)
    middle, half = (low + high) / 2, (high - low) / 2
    places, widths = [], []
    for reach, side in [(1.0, GRID), *((reach, FRAME_GRID) for reach in frames)]:
        steps = (np.arange(side) + 0.5) / side * 2 - 1
        square = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
        # The middle third of a frame is the grid before it.
        outside = square[(np.abs(square) > 1 / 3).any(axis=1)] if reach > 1 else square
        places.append(middle + outside * half * reach)
        widths.append(np.broadcast_to(half * reach / side, outside.shape))
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
