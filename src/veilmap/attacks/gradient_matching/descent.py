"""Algorithm 2, lines 2-5: dummy locations walk downhill, each until it rests."""

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from torch import Tensor

from veilmap.attacks.gradient_matching.batched_descent import walk_together
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.optimisers import Optimiser
from veilmap.attacks.gradient_matching.regions import Pieces, Region
from veilmap.attacks.gradient_matching.trajectory import Rest, Walker

Way = Callable[
    [Pieces, tuple[float, float], float, Callable[[], Optimiser]], Iterator[tuple[float, float]]
]


def walk(
    matching: Matching,
    x: Tensor,
    label: float,
    optimiser: Callable[[], Optimiser],
    rest: Rest,
    *,
    keep_path: bool = False,
    on_rest: Callable[[int], None] = lambda count: None,
) -> list[list[Walker]]:
    """The walkers of each update at their ends, from the starts ``x`` (updates, starts, 2).

    The slopes have the precision of ``x``, the cosines at the ends that of ``matching``.
    ``on_rest`` is told how many updates have come to rest, whenever some do.
    """
    walkers = [[Walker((a, b), rest, keep_path=keep_path) for a, b in row] for row in x.tolist()]
    on_gpu = matching.device.type != "cpu"
    alone = matching.network.is_piecewise and not on_gpu
    way = walk_one_by_one if alone else walk_together
    way(matching.to(x.dtype), walkers, label, optimiser, on_rest)
    ends = matching.tensor([[each.xy_std for each in row] for row in walkers])
    cosines = matching.at(ends).with_label(matching.tensor(label)).tolist()
    for row, found in zip(walkers, cosines, strict=True):
        for each, cosine in zip(row, found, strict=True):
            each.cosine = cosine
    return walkers


def walk_one_by_one(
    matching: Matching,
    walkers: Sequence[Sequence[Walker]],
    label: float,
    optimiser: Callable[[], Optimiser],
    on_rest: Callable[[int], None],
) -> None:
    """Lead each walker alone to its end, so that what its steps need stays in the cache."""
    way_of = _way_here()
    for update, row in enumerate(walkers):
        pieces = Pieces.of(matching, update)
        for each in row:
            _lead(each, way_of(pieces, each.xy_std, label, optimiser))
        on_rest(1)


def _lead(walker: Walker, way: Iterator[tuple[float, float]]) -> None:
    before = time.perf_counter()
    with np.errstate(all="ignore"):  # far beyond any map
        while walker.walking:
            walker.move(*next(way))
    walker.seconds = time.perf_counter() - before


def _way(
    pieces: Pieces,
    start: tuple[float, float],
    label: float,
    optimiser: Callable[[], Optimiser],
) -> Iterator[tuple[float, float]]:
    """The places that a dummy location comes to from its start, without an end."""
    region, along_x, along_y, (x, y) = Region(pieces), optimiser(), optimiser(), start
    while True:
        _, rise_x, rise_y = region.slope(x, y, label)
        x, y = along_x.step(x, -rise_x), along_y.step(y, -rise_y)
        yield x, y


def _way_here() -> Way:
    """Compiled where numba is there; loading it takes half a second, which only DLG should pay."""
    try:
        from veilmap.attacks.gradient_matching.compiled_descent import compiled_way
    except ImportError:  # not installed, or not for this numpy
        return _way
    return compiled_way
