"""A grid so fine that any two points of a cell are neighbours."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

# In eps. The diagonal is 0.99 eps: a little short, so that rounding a point into the wrong cell
# cannot put two into one that are farther apart than eps.
_SIDE = 0.7
# In cells: neighbours are up to eps / side = 1.43 cells apart.
_REACH = 2
_WAYS = range(-_REACH, _REACH + 1)

# From a cell to those that can hold a neighbour of its points: itself, then the nearest first.
OFFSETS = sorted(((x, y) for x in _WAYS for y in _WAYS), key=lambda way: way[0] ** 2 + way[1] ** 2)
# Each pair of cells once.
OFFSETS_ONE_WAY = [way for way in OFFSETS if way > (0, 0)]


@dataclass(frozen=True)
class CellGrid:
    """The occupied cells.

    Attributes:
        cell: the number of each point's cell.
        key: of each cell, column times stride plus row; increasing.
        stride: more than there are rows, so that no neighbour of the last is in the next column.
    """

    cell: Indices
    key: Indices
    stride: int

    @classmethod
    def of(cls, xy_m: NDArray[np.float64], eps_m: float) -> "CellGrid":
        """The cells of at least one point."""
        column, row = (_places(xy_m[:, axis], eps_m) for axis in (0, 1))
        stride = int(row.max()) + 1 + _REACH
        key, cell = np.unique(column * stride + row, return_inverse=True)
        return cls(cell, key, stride)

    def part(self, chosen: NDArray[np.bool_]) -> "CellGrid":
        """The grid of some of the points; cells that lose all of theirs go."""
        kept, cell = np.unique(self.cell[chosen], return_inverse=True)
        return CellGrid(cell, self.key[kept], self.stride)

    def rows(self, chosen: NDArray[np.bool_]) -> Indices:
        """Where the chosen points are, cell by cell: look-ups in this order are much faster."""
        rows = np.flatnonzero(chosen)
        return rows[np.argsort(self.cell[rows])]

    def beside(self, keys: Indices, offset: tuple[int, int]) -> tuple[Indices, Indices]:
        """Which of the keys have a cell of this grid at the offset, and the number of that cell."""
        wanted = keys + (offset[0] * self.stride + offset[1])
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        there = np.flatnonzero(self.key[at] == wanted)
        return there, at[there]


def _places(values_m: NDArray[np.float64], eps_m: float) -> Indices:
    """Column or row of each value, counted without the cells of wide gaps.

    Gaps wider than eps part neighbours of nobody, so all above 2 eps become 2 eps. That bounds
    the places by the number of points, however small eps is: keys fit into 64 bits, and sums of
    gaps are far more exact than the hair by which a cell is too small.
    """
    order = np.argsort(values_m)
    gaps_m = np.diff(values_m[order], prepend=values_m[order[0]])
    place = np.empty(len(values_m), np.int64)
    place[order] = np.cumsum(np.minimum(gaps_m, 2 * eps_m) / eps_m) / _SIDE
    return place
