"""Counts pairs of points within reach of each other, whole boxes of points at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Pairs = tuple[Indices, Indices, Indices]  # number of the question, left box, right box

# How many pairs of boxes are looked at together; bounds the memory.
BLOCK = 100_000


@dataclass(frozen=True)
class BoxTrees:
    """One tree of boxes for each group of points; tree i has its root in row i.

    Attributes:
        low, high: corners of the smallest box around the points.
        count: how many points.
        child: row of the first of two halves, which follow each other; -1 if all points are equal.
    """

    low: Floats
    high: Floats
    count: Indices
    child: Indices

    @classmethod
    def of(cls, xy_m: Floats, group: Indices) -> "BoxTrees":
        """``group`` numbers each point's group; from 0, none empty."""
        xy_m, sizes = xy_m[np.argsort(group)], np.bincount(group)
        levels, rows = [], 0
        while len(sizes):
            starts = np.cumsum(sizes) - sizes
            low, high = np.minimum.reduceat(xy_m, starts), np.maximum.reduceat(xy_m, starts)
            parts = np.max(high - low, axis=1) > 0
            rows += len(sizes)
            child = np.where(parts, rows + 2 * (np.cumsum(parts) - 1), -1)
            levels.append((low, high, sizes, child))
            xy_m, sizes = _halve(xy_m, sizes, parts, np.argmax(high - low, axis=1))
        return cls(*(np.concatenate(column) for column in zip(*levels, strict=True)))

    @cached_property
    def longer_side(self) -> Floats:
        side: Floats = (self.high - self.low).max(axis=1)
        return side


def count_pairs(
    left: BoxTrees, right: BoxTrees, a: Indices, b: Indices, reach_m: float, enough: int | Indices
) -> Indices:
    """How many points of tree ``a[i]`` on the left and ``b[i]`` on the right are within reach.

    It counts pairs of points; distances of exactly ``reach_m`` count. Counting stops at
    ``enough``, so a larger result is only a lower bound.

    Exact to the last bit: rounding keeps order, so distances between boxes, computed in the same
    way as those between points, never lie on the wrong side of them.
    """
    found = np.zeros(len(a), np.int64)
    enough = np.broadcast_to(enough, found.shape)
    waiting = list(_blocks((np.arange(len(a)), a, b)))
    while waiting:
        which, a, b = waiting.pop()
        near, far = _squared_distances(left, right, a, b)
        inside = far <= reach_m * reach_m
        np.add.at(found, which[inside], left.count[a[inside]] * right.count[b[inside]])
        open_ = ~inside & (near <= reach_m * reach_m) & (found[which] < enough[which])
        which, a, b = which[open_], a[open_], b[open_]
        first = left.longer_side[a] >= right.longer_side[b]
        waiting += _blocks((np.tile(which, 2), _split(left, a, first), _split(right, b, ~first)))
    return found


def _halve(
    xy_m: Floats, sizes: Indices, parts: NDArray[np.bool_], axis: Indices
) -> tuple[Floats, Indices]:
    """The points of the groups that part, each group parted at the median of its longer side."""
    xy_m, sizes, axis = xy_m[np.repeat(parts, sizes)], sizes[parts], axis[parts]
    group = np.repeat(np.arange(len(sizes)), sizes)
    along = np.where(axis[group] == 0, xy_m[:, 0], xy_m[:, 1])
    halves = np.stack([sizes // 2, sizes - sizes // 2], axis=1)
    return xy_m[np.lexsort((along, group))], halves.ravel()


def _squared_distances(
    left: BoxTrees, right: BoxTrees, a: Indices, b: Indices
) -> tuple[Floats, Floats]:
    """Bounds of the squared distances between any point of one box and any of another."""
    ahead, behind = right.low[b] - left.high[a], left.low[a] - right.high[b]
    near = np.maximum(np.maximum(ahead, behind), 0.0)
    far = np.maximum(right.high[b] - left.low[a], left.high[a] - right.low[b])
    return near[:, 0] ** 2 + near[:, 1] ** 2, far[:, 0] ** 2 + far[:, 1] ** 2


def _split(trees: BoxTrees, box: Indices, parts: NDArray[np.bool_]) -> Indices:
    """All first halves, then all second ones; a box that does not part is there both times."""
    first = np.where(parts, trees.child[box], box)
    return np.concatenate([first, first + parts])


def _blocks(pairs: Pairs) -> Iterator[Pairs]:
    for start in range(0, len(pairs[0]), BLOCK):
        which, a, b = (column[start : start + BLOCK] for column in pairs)
        yield which, a, b
