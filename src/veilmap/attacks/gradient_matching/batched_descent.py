"""Many dummy locations walking downhill together, under a network of any shape."""

import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.optimisers import Optimiser
from veilmap.attacks.gradient_matching.trajectory import Walker

# Iterations between two looks at who rests; a GPU has gone on when the answer is there.
_ITERATIONS_AT_ONCE = 16


@torch.no_grad()
def walk_together(
    matching: Matching,
    walkers: Sequence[Sequence[Walker]],
    label: float,
    optimiser: Callable[[], Optimiser],
    on_rest: Callable[[int], None],
) -> None:
    """Lead the walkers of each update to their ends, all in step; those who rest drop out."""
    going, steps = torch.arange(len(walkers), device=matching.device), optimiser()
    x = matching.tensor([[each.xy_std for each in row] for row in walkers])
    y = matching.tensor(label)
    while len(going):
        before, way = time.perf_counter(), []
        for _ in range(_ITERATIONS_AT_ONCE):
            rises = torch.zeros_like(x)
            rises[going] = slopes(matching, x[going], y)[1]
            x = steps.step(x, -rises)
            way.append(x[going])
        rows = [walkers[u] for u in going.tolist()]
        _move(rows, torch.stack(way, 2).tolist(), before)
        left = torch.tensor([any(each.walking for each in row) for row in rows]).to(going.device)
        if not left.all():
            on_rest(int((~left).sum()))
            going, matching = going[left], matching.keep(left)


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


def _move(
    rows: Sequence[Sequence[Walker]],
    ways: Sequence[Sequence[Sequence[tuple[float, float]]]],
    before: float,
) -> None:
    """Each walker along its way, but not beyond its end; they share the time since ``before``."""
    made: dict[Walker, int] = {}
    for row, of_row in zip(rows, ways, strict=True):
        for each, way in zip(row, of_row, strict=True):
            first = each.iterations
            for place in way:
                if each.walking:
                    each.move(*place)
            made[each] = each.iterations - first
    one_s = (time.perf_counter() - before) / sum(made.values())
    for each, iterations in made.items():
        each.seconds += iterations * one_s
