"""Square cells over the area that become smaller where the mass is."""

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area

_CHILDREN = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
_NEIGHBOURS = np.stack(np.meshgrid([-1, 0, 1], [-1, 0, 1]), -1).reshape(-1, 2)


@dataclass(frozen=True)
class Cells:
    """Cells of one size, by column and row counted from the area's lower left corner."""

    area: Area
    side_m: float
    index: NDArray[np.int64]

    @classmethod
    def cover(cls, area: Area, count: int) -> "Cells":
        """About ``count`` cells over the whole area."""
        width_m, height_m = max(area.width_m, 1.0), max(area.height_m, 1.0)
        side_m = max(sqrt(width_m * height_m / count), max(width_m, height_m) / count)
        columns, rows = np.arange(ceil(width_m / side_m)), np.arange(ceil(height_m / side_m))
        index = np.stack(np.meshgrid(columns, rows), -1).reshape(-1, 2)
        return cls(area, side_m, index[_begin_inside(area, side_m, index)])

    def __len__(self) -> int:
        return len(self.index)

    @property
    def xy_m(self) -> NDArray[np.float64]:
        """The centres; those of cells that stick out are moved to the area's edge."""
        corner = np.array([self.area.x_min_m, self.area.y_min_m])
        centres: NDArray[np.float64] = np.minimum(
            corner + (self.index + 0.5) * self.side_m, [self.area.x_max_m, self.area.y_max_m]
        )
        return centres

    def split(self, chosen: NDArray[np.bool_]) -> "Cells":
        """The quarters of the chosen cells and of their neighbours."""
        side_m = self.side_m / 2
        around = (self.index[chosen, None] + _NEIGHBOURS).reshape(-1, 2)
        quarters = (2 * np.unique(around, axis=0)[:, None] + _CHILDREN).reshape(-1, 2)
        return Cells(self.area, side_m, quarters[_begin_inside(self.area, side_m, quarters)])


def _begin_inside(area: Area, side_m: float, index: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which cells have their lower left corner inside; a thin area has one row of them."""
    size_m = np.maximum([area.width_m, area.height_m], side_m)
    inside: NDArray[np.bool_] = np.all((index >= 0) & (index * side_m < size_m), axis=1)
    return inside
