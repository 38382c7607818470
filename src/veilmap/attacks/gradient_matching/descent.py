"""Algorithm 2, lines 2-5: gradient descent of dummy locations, each until it stops."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
from torch import Tensor

from veilmap.attacks.gradient_matching.batched_descent import descend_batched
from veilmap.attacks.gradient_matching.matching import Matching, Objective
from veilmap.attacks.gradient_matching.objective import piecewise
from veilmap.attacks.gradient_matching.optimisers import MakeOptimiser
from veilmap.attacks.gradient_matching.regions import Pieces, Region
from veilmap.attacks.gradient_matching.trajectory import Location, StoppingCriteria, Trajectory

# From the pieces, the start, the label and an optimiser to the locations, without an end.
Iterates = Callable[[Pieces, Location, float, MakeOptimiser], Iterator[Location]]


def descend(
    matching: Objective,
    x: Tensor,
    label: float,
    optimiser: MakeOptimiser,
    criteria: StoppingCriteria,
    *,
    keep_path: bool = False,
    on_done: Callable[[int], None] = lambda count: None,
) -> list[list[Trajectory]]:
    """The finished trajectories of each update from the starts ``x`` (updates, starts, 2).

    The slopes have the precision of ``x``, the final cosines that of ``matching``. ``on_done`` is
    called with the number of updates that have finished since its last call.
    """
    trajectories = [
        [Trajectory((a, b), criteria, keep_path=keep_path) for a, b in row] for row in x.tolist()
    ]
    sloped = matching.to(x.dtype)
    if dense := piecewise(sloped):
        descend_one_by_one(dense, trajectories, label, optimiser, on_done)
    else:
        descend_batched(sloped, trajectories, label, optimiser, on_done)
    ends = matching.tensor([[each.xy_std for each in row] for row in trajectories])
    cosines = matching.at(ends).with_label(matching.tensor(label)).flatten().tolist()
    for each, cosine in zip(chain(*trajectories), cosines, strict=True):
        each.cosine = cosine
    return trajectories


def descend_one_by_one(
    matching: Matching,
    trajectories: Sequence[Sequence[Trajectory]],
    label: float,
    optimiser: MakeOptimiser,
    on_done: Callable[[int], None],
) -> None:
    """Run each trajectory to its end before the next, so that its data stay in the cache."""
    iterates = _fastest_iterates()
    for update, row in enumerate(trajectories):
        pieces = Pieces.of(matching, update)
        for each in row:
            before = time.perf_counter()
            places = iterates(pieces, each.xy_std, label, optimiser)
            with np.errstate(all="ignore"):  # far beyond any map
                while each.running:
                    each.move(*next(places))
            each.seconds = time.perf_counter() - before
        on_done(1)


def _iterates(
    pieces: Pieces, start: Location, label: float, optimiser: MakeOptimiser
) -> Iterator[Location]:
    """The locations of a descent from its start, without an end."""
    region, along_x, along_y, (x, y) = Region(pieces), optimiser(), optimiser(), start
    while True:
        _, rise_x, rise_y = region.slope(x, y, label)
        x, y = along_x.step(x, -rise_x), along_y.step(y, -rise_y)
        yield x, y


def _fastest_iterates() -> Iterates:
    """Compiled if numba is installed; imported here, because that takes half a second."""
    try:
        from veilmap.attacks.gradient_matching.compiled_descent import compiled_iterates
    except ImportError:  # not installed, or not for this numpy
        return _iterates
    return compiled_iterates
