"""Many dummy locations walking downhill together, each until it rests."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.matching import Matching
from veilmap.attacks.optimisers import Optimiser
from veilmap.attacks.reconstruction import Outcome


@dataclass(frozen=True)
class Rest:
    """When a walk is over.

    Attributes:
        scale_m: metres per standardised unit, by axis.
        still_m: a step shorter than this is no step.
        still_iterations: so many of them in a row are rest.
        max_iterations: m of Algorithm 2.
        middle_std: the middle of the area, standardised.
        far_m: a location farther from it than this is given up.
    """

    scale_m: tuple[float, float]
    still_m: float
    still_iterations: int
    max_iterations: int
    middle_std: tuple[float, float]
    far_m: float


@dataclass
class Walk:
    """Where every walker (updates × starts) is, and how it got there."""

    xy_std: NDArray[np.float64]
    cosine: NDArray[np.float64]
    iterations: NDArray[np.int64]
    seconds: NDArray[np.float64]
    outcome: NDArray[np.object_]
    path_std: list[NDArray[np.float64]]

    @classmethod
    def standing(cls, x: Tensor) -> "Walk":
        """Nobody has moved yet."""
        shape = tuple(x.shape[:2])
        return cls(
            x.numpy().astype(np.float64),
            np.full(shape, np.nan),
            np.zeros(shape, np.int64),
            np.zeros(shape),
            np.full(shape, Outcome.OUT_OF_ITERATIONS),
            [],
        )

    def record(
        self, state: "_State", walking: Tensor, ended: dict[Outcome, Tensor], seconds: float
    ) -> None:
        """What an iteration did to those who walked in it."""
        rows, moved = state.going.numpy(), walking.numpy()
        self.xy_std[rows] = np.where(moved[..., None], state.x.numpy(), self.xy_std[rows])
        self.iterations[rows] += moved
        self.seconds[rows] += moved * seconds / max(moved.sum(), 1)
        for outcome, which in ended.items():
            ways = self.outcome[rows]
            ways[which.numpy()] = outcome
            self.outcome[rows] = ways


@torch.no_grad()
def walk(
    matching: Matching,
    x: Tensor,
    label: float,
    optimiser: Optimiser,
    rest: Rest,
    *,
    keep_path: bool = False,
    on_rest: Callable[[int], None] = lambda count: None,
) -> Walk:
    """Algorithm 2, lines 2-5, from the starts ``x`` (updates, starts, 2), standardised.

    The steps have the precision of ``x``, the cosines at the ends that of ``matching``.
    ``on_rest`` is told how many updates have come to rest, whenever some do.
    """
    result, state = Walk.standing(x), _State(matching.to(x.dtype), x, optimiser, rest)
    y = torch.tensor(label, dtype=matching.dtype)
    for _ in range(rest.max_iterations):
        if keep_path:
            result.path_std.append(result.xy_std.copy())
        before, walking = time.perf_counter(), state.walking
        ended = state.step(y)
        result.record(state, walking, ended, time.perf_counter() - before)
        over = state.drop()
        if over:
            on_rest(over)
        if not len(state.going):
            break
    on_rest(len(state.going))
    ends = torch.from_numpy(result.xy_std)
    result.cosine[:] = matching.at(ends).with_label(y).numpy()
    return result


class _State:
    """The walkers still on their way, and the updates they belong to."""

    def __init__(self, matching: Matching, x: Tensor, optimiser: Optimiser, rest: Rest) -> None:
        self.x, self.going = x, torch.arange(len(x))
        self.walking = torch.ones(x.shape[:2], dtype=torch.bool)
        self._matching, self._optimiser, self._rest = matching, optimiser, rest
        self._still = torch.zeros(x.shape[:2], dtype=torch.int64)
        self._scale_m = torch.tensor(rest.scale_m, dtype=x.dtype)
        self._middle = torch.tensor(rest.middle_std, dtype=x.dtype)

    def step(self, label: Tensor) -> dict[Outcome, Tensor]:
        """One iteration for all; which walkers it ends, and how."""
        _, slope = slopes(self._matching, self.x, label)
        moved = torch.where(self.walking[..., None], self._optimiser.step(self.x, -slope), self.x)
        step_m = ((moved - self.x) * self._scale_m).norm(dim=-1)
        self._still = torch.where(step_m < self._rest.still_m, self._still + 1, 0)
        self.x = moved
        away_m = ((moved - self._middle) * self._scale_m).norm(dim=-1)
        ended = {
            Outcome.CONVERGED: self.walking & (self._still >= self._rest.still_iterations),
            Outcome.FAR_AWAY: self.walking & (away_m > self._rest.far_m),
            Outcome.NOT_FINITE: self.walking & ~moved.isfinite().all(-1),
        }
        self.walking = self.walking & ~torch.stack(list(ended.values())).any(0)
        return ended

    def drop(self) -> int:
        """Leave out the updates of which nobody walks any more; how many they are."""
        left = self.walking.any(1)
        gone = int((~left).sum())
        if gone:
            self._matching, self.going, self.x = (
                self._matching.keep(left),
                self.going[left],
                self.x[left],
            )
            self._still, self.walking = self._still[left], self.walking[left]
            self._optimiser.keep(left)
        return gone


def slopes(matching: Matching, x: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
    """cos(∇w, ∇w') and its gradient in x'.

    By automatic differentiation, not by differences: a difference across a crease, where a ReLU
    switches and the cosine jumps, is a slope out of nowhere that throws the walker off the map.
    """
    with torch.enable_grad():
        x = x.clone().requires_grad_()
        cosine = matching.at(x).with_label(label)
        (rise,) = torch.autograd.grad(cosine.sum(), x)
    return cosine.detach(), rise
