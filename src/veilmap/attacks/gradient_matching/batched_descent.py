"""Descents of many dummy locations at once, under a network of any shape."""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import torch
from torch import Tensor

from veilmap.attacks.gradient_matching.matching import Objective
from veilmap.attacks.gradient_matching.optimisers import MakeOptimiser
from veilmap.attacks.gradient_matching.trajectory import Location, Trajectory
from veilmap.errors import UserError

# Iterations between two checks of the stopping criteria, which synchronise with the GPU.
_ITERATIONS_AT_ONCE = 16


@torch.no_grad()
def descend_batched(
    matching: Objective,
    trajectories: Sequence[Sequence[Trajectory]],
    label: float,
    optimiser: MakeOptimiser,
    on_done: Callable[[int], None],
) -> None:
    """Advance all trajectories in step until every one has ended; finished updates drop out."""
    running, steps = torch.arange(len(trajectories), device=matching.device), optimiser()
    x = matching.tensor([[each.xy_std for each in row] for row in trajectories])
    y = matching.tensor(label)
    while len(running):
        before, path = time.perf_counter(), []
        for _ in range(_ITERATIONS_AT_ONCE):
            slope = torch.zeros_like(x)
            slope[running] = slopes(matching, x[running], y)[1]
            x = steps.step(x, -slope)
            path.append(x[running])
        rows = [trajectories[u] for u in running.tolist()]
        _advance(chain(*rows), torch.stack(path, 2).flatten(0, 1).tolist(), before)
        left = torch.tensor([any(each.running for each in row) for row in rows]).to(running.device)
        if not left.all():
            on_done(int((~left).sum()))
            running, matching = running[left], matching.keep(left)


def slopes(matching: Objective, x: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
    """cos(∇w, ∇w') and its gradient in x'.

    By automatic differentiation, not by differences: across a crease, where a ReLU switches and
    the cosine jumps, a difference quotient has nothing to do with the slope on either side.
    """
    with torch.enable_grad():
        x = x.clone().requires_grad_()
        cosine = matching.at(x).with_label(label)
        if not cosine.requires_grad:  # a map of flat pieces, such as a table of squares
            return cosine, torch.zeros_like(x)
        try:
            (slope,) = torch.autograd.grad(cosine.sum(), x)
        except RuntimeError as error:
            raise UserError(
                f"dlg needs second derivatives, and torch cannot compute them ({error}); attack "
                "the map with search"
            ) from error
    return cosine.detach(), slope


def _advance(
    trajectories: Iterable[Trajectory], paths: Iterable[Sequence[Location]], before: float
) -> None:
    """Append to each trajectory until it ends; they share the time since ``before``."""
    made: dict[Trajectory, int] = {}
    for each, path in zip(trajectories, paths, strict=True):
        first = each.iterations
        for place in path:
            if each.running:
                each.move(*place)
        made[each] = each.iterations - first
    one_s = (time.perf_counter() - before) / sum(made.values())
    for each, iterations in made.items():
        each.seconds += iterations * one_s
