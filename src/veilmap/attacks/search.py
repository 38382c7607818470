"""The global optimum of Algorithm 2's objective: a search in the plane, not a walk.

The best dummy label gives F(x') − y' the sign that suits, so the optimum of the cosine over
(x', y') is that of |cos(G, J(x'))| over x' alone. ReLU makes J jump where a unit switches, and
gradient methods stick on such creases; here a coarse grid is looked at whole, and its best places
climb by looking around them.
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

# The area is looked at on a grid; around it lie ever larger frames, because the optimum of an
# update that says little may be anywhere, and iterative DLG does go there.
FRAMES = (3.0, 9.0, 27.0, 81.0)
# A unit is a crease across the plane; where each layer has many, each crease is small and the
# objective smooth. A small layer is rough, and a finer grid costs a small network little.
SMOOTH_UNITS = 100
# The places that climb, and for how many steps, the first race in float32.
STEPS = 3
MOST_STEPS = 400
# Where no parabola held, the next is tried after so many steps.
CREASE_STEPS = 4


@dataclass(frozen=True)
class _Effort:
    """Squares along a side of the area and of a frame, and how many places climb in each race."""

    grid: int
    frame_grid: int
    races: tuple[int, int, int]


_SMOOTH = _Effort(16, 6, (8, 4, 2))
_ROUGH = _Effort(32, 16, (24, 12, 4))
# The centre first, so that a tie is no move.
_STENCIL = np.array([(0, 0), *((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y)], float)

Places = NDArray[np.float64]


@dataclass(frozen=True)
class Search:
    """DLG at its limit.

    Attributes:
        inside: look inside the area only, as a server may that knows it. Without, the places
            around it are looked at as well, where DLG also goes.
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
        fine = Matching.of(header.network, [observation.weights_before], [gradient])
        sieve = fine.to(torch.float32)
        effort = _SMOOTH if min(header.network.hidden) >= SMOOTH_UNITS else _ROUGH
        places, widths = _coarse(known, effort, () if self.inside else FRAMES)
        best = np.argsort(-_cosines(sieve, places), kind="stable")
        chosen = best[_apart(places[best], widths[best], effort.races[0])]
        bounds = _corners(known) if self.inside else None
        climb = _Climb(sieve, places[chosen], widths[chosen], bounds)
        climb.steps(STEPS)
        climb = _Climb(fine, *climb.best(effort.races[1]), bounds)
        climb.steps(STEPS)
        climb = _Climb(fine, *climb.best(effort.races[2]), bounds)
        climb.steps(MOST_STEPS, self.exact_m / np.array(known.scaler.scale_m))
        found, cosine = climb.winner()
        seconds = time.perf_counter() - before
        return Reconstruction.of(
            observation, known.scaler.metres(found), cosine=cosine, seconds=seconds
        )


class _Climb:
    """Places that go uphill: to the best of eight neighbours, or to the top of a parabola."""

    def __init__(
        self,
        matching: Matching,
        places: Places,
        widths: Places,
        bounds: tuple[Places, Places] | None,
    ) -> None:
        self._matching, self._bounds = matching, bounds
        self._places, self._widths, self._widest = places, widths, widths
        self._cosines = _cosines(matching, places)
        self._smooth, self._taken = True, 0

    def steps(self, most: int, exact: Places | float = 0.0) -> None:
        """So many steps, or until no step is longer than ``exact``."""
        for _ in range(most):
            if (self._widths <= exact).all():
                break
            self._step()

    def best(self, count: int) -> tuple[Places, Places]:
        """The best places and the length of their steps."""
        order = np.argsort(-self._cosines, kind="stable")[:count]
        return self._places[order], self._widths[order]

    def winner(self) -> tuple[Places, float]:
        """The best place and its cosine."""
        top = int(self._cosines.argmax())
        return self._places[top], float(self._cosines[top])

    def _step(self) -> None:
        around = self._inside(self._places[:, None] + self._widths[:, None] * _STENCIL)
        seen = self._evaluate(around)
        seen[:, 0] = self._cosines
        rows, highest = np.arange(len(seen)), seen.argmax(axis=1)
        top, at_top = self._tops(seen)
        on_top, moved = at_top > seen[rows, highest], highest > 0
        self._smooth = bool(on_top.any())
        self._places = np.where(on_top[:, None], top, around[rows, highest])
        self._cosines = np.maximum(at_top, seen[rows, highest])
        # A parabola that holds makes the next one small; a ridge is followed in longer steps.
        factor = np.where(on_top, 0.25, np.where(moved, 2.0, 0.5))
        self._widths = np.minimum(self._widths * factor[:, None], self._widest)

    def _tops(self, seen: NDArray[np.float64]) -> tuple[Places, NDArray[np.float64]]:
        """The tops of the parabolas and the cosines there; on a crease they are seldom worth it."""
        self._taken += 1
        if not self._smooth and self._taken % CREASE_STEPS:
            return self._places, np.full(len(seen), -np.inf)
        top = self._inside(self._places + self._widths * _parabola(seen))
        return top, self._evaluate(top[:, None])[:, 0]

    def _inside(self, places: Places) -> Places:
        return places if self._bounds is None else np.clip(places, *self._bounds)

    def _evaluate(self, places: Places) -> NDArray[np.float64]:
        return _cosines(self._matching, places.reshape(-1, 2)).reshape(places.shape[:2])


def _parabola(seen: NDArray[np.float64]) -> Places:
    """Where the paraboloid through the stencil has its top, in steps; no move if it has none."""
    value = dict(zip(map(tuple, _STENCIL.astype(int)), seen.T, strict=True))
    slope_x = (value[1, 0] - value[-1, 0]) / 2
    slope_y = (value[0, 1] - value[0, -1]) / 2
    bend_x = value[1, 0] - 2 * value[0, 0] + value[-1, 0]
    bend_y = value[0, 1] - 2 * value[0, 0] + value[0, -1]
    twist = (value[1, 1] - value[1, -1] - value[-1, 1] + value[-1, -1]) / 4
    determinant = bend_x * bend_y - twist**2
    is_top = (determinant > 0) & (bend_x < 0)
    divisor = np.where(is_top, determinant, 1.0)
    top = np.column_stack([twist * slope_y - bend_y * slope_x, twist * slope_x - bend_x * slope_y])
    return np.where(is_top[:, None], np.clip(top / divisor[:, None], -2, 2), 0.0)


def _coarse(
    known: SideKnowledge, effort: _Effort, frames: tuple[float, ...]
) -> tuple[Places, Places]:
    """Candidates, standardised, and half the way to the next of them."""
    low, high = _corners(known)
    middle, half = (low + high) / 2, (high - low) / 2
    places, widths = [], []
    for reach, side in [(1.0, effort.grid), *((reach, effort.frame_grid) for reach in frames)]:
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
    low, high = scaler.finely(corners_m)
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
