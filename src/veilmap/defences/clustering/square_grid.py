"""A grid so fine that any two points of a square are neighbours."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

# In eps. The diagonal is 0.99 eps: a little short, so that rounding a point into the wrong square
# cannot put two into one that are farther apart than eps.
_SIDE = 0.7
# In squares: neighbours are up to eps / side = 1.43 squares apart.
_REACH = 2
_WAYS = range(-_REACH, _REACH + 1)

# From a square to those that can hold a neighbour of its points: itself, then the nearest first.
OFFSETS = sorted(((x, y) for x in _WAYS for y in _WAYS), key=lambda way: way[0] ** 2 + way[1] ** 2)
# Each pair of squares once.
OFFSETS_ONE_WAY = [way for way in OFFSETS if way > (0, 0)]


@dataclass(frozen=True)
class SquareGrid:
    """The occupied squares.

    Attributes:
        square: the number of each point's square.
        key: of each square, column times stride plus row; increasing.
        stride: more than there are rows, so that no neighbour of the last is in the next column.
    """

    square: Indices
    key: Indices
    stride: int

    @classmethod
    def of(cls, xy_m: NDArray[np.float64], eps_m: float) -> "SquareGrid":
        """The squares of at least one point."""
        column, row = (_places(xy_m[:, axis], eps_m) for axis in (0, 1))
        stride = int(row.max()) + 1 + _REACH
        key, square = np.unique(column * stride + row, return_inverse=True)
        return cls(square, key, stride)

    def part(self, chosen: NDArray[np.bool_]) -> "SquareGrid":
        """The grid of some of the points; squares that lose all of theirs go."""
        kept, square = np.unique(self.square[chosen], return_inverse=True)
        return SquareGrid(square, self.key[kept], self.stride)

    def rows(self, chosen: NDArray[np.bool_]) -> Indices:
        """Where the chosen points are, square by square: look-ups in this order are much faster."""
        rows = np.flatnonzero(chosen)
        return rows[np.argsort(self.square[rows])]

    def beside(self, keys: Indices, offset: tuple[int, int]) -> tuple[Indices, Indices]:
        """Which of the keys have a square of this grid at the offset, and that square's number."""
        wanted = keys + (offset[0] * self.stride + offset[1])
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        there = np.flatnonzero(self.key[at] == wanted)
        return there, at[there]


def _places(values_m: NDArray[np.float64], eps_m: float) -> Indices:
    """Column or row of each value, counted without the squares of wide gaps.

    A gap wider than eps separates no neighbours, so all gaps above 2 eps become 2 eps. That bounds
    the columns and rows by the number of points, however small eps is: keys fit into 64 bits, and
    the rounding of summed gaps is far below the 1 % by which a square is too small.
    """
    order = np.argsort(values_m)
    gaps_m = np.diff(values_m[order], prepend=values_m[order[0]])
    place = np.empty(len(values_m), np.int64)
    place[order] = np.cumsum(np.minimum(gaps_m, 2 * eps_m) / eps_m) / _SIDE
    return place
