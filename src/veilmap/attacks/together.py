"""Many dummy locations walking downhill together, under a network of any shape."""

import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from veilmap.attacks.matching import Matching
from veilmap.attacks.optimisers import Optimiser
from veilmap.attacks.walker import Walker


@torch.no_grad()
def walk_together(
    matching: Matching,
    walkers: Sequence[Sequence[Walker]],
    label: float,
    optimiser: Callable[[], Optimiser],
    on_rest: Callable[[int], None],
) -> None:
    """Lead the walkers of each update to their ends, all in step; those who rest drop out."""
    going, steps = torch.arange(len(walkers)), optimiser()
    x = torch.tensor([[each.xy_std for each in row] for row in walkers], dtype=matching.dtype)
    y = torch.tensor(label, dtype=matching.dtype)
    while len(going):
        before = time.perf_counter()
        rises = torch.zeros_like(x)
        rises[going] = slopes(matching, x[going], y)[1]
        x = steps.step(x, -rises)
        _move([(walkers[u], x[u].tolist()) for u in going], before)
        left = torch.tensor([any(each.walking for each in walkers[u]) for u in going])
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
    rows: Sequence[tuple[Sequence[Walker], Sequence[tuple[float, float]]]], before: float
) -> None:
    """Each walker to its next place; they share the time since ``before`` equally."""
    moving = [
        (each, xy) for row, places in rows for each, xy in zip(row, places, strict=True)
        if each.walking
    ]  # fmt: skip
    for each, (x, y) in moving:
        each.move(x, y)
    share_s = (time.perf_counter() - before) / len(moving)
    for each, _ in moving:
        each.seconds += share_s
