"""The rectangle that the map covers and the attacker searches."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError

MOST_SQUARES = 20_000_000
FARTHEST_M = 1e8  # coordinates of projections on the earth stay far below


@dataclass(frozen=True)
class Area:
    """The area of interest in projected metres (the paper: the campus boundary, about 3 km²)."""

    x_min_m: float
    y_min_m: float
    x_max_m: float
    y_max_m: float

    def __post_init__(self) -> None:
        bounds = (self.x_min_m, self.y_min_m, self.x_max_m, self.y_max_m)
        if not np.isfinite(bounds).all() or self.width_m < 0 or self.height_m < 0:
            raise UserError(
                f"an area must be finite with min <= max on both axes, got {bounds} (x_min, y_min, "
                "x_max, y_max in metres); give west,south,east,north in this order"
            )

    @classmethod
    def around(cls, xy_m: NDArray[np.float64]) -> "Area":
        """The bounding box of some points."""
        low, high = xy_m.min(axis=0), xy_m.max(axis=0)
        return cls(float(low[0]), float(low[1]), float(high[0]), float(high[1]))

    @property
    def width_m(self) -> float:
        return self.x_max_m - self.x_min_m

    @property
    def height_m(self) -> float:
        return self.y_max_m - self.y_min_m

    @property
    def centre_m(self) -> NDArray[np.float64]:
        return np.array([self.x_min_m + self.x_max_m, self.y_min_m + self.y_max_m]) / 2

    @property
    def corners_m(self) -> NDArray[np.float64]:
        """Lower left and upper right."""
        return np.array([[self.x_min_m, self.y_min_m], [self.x_max_m, self.y_max_m]])

    def centres_m(self, side_m: float) -> NDArray[np.float64]:
        """The centres of squares of about this side that cover the area, in rows from the south."""
        columns, rows = (max(round(side / side_m), 1) for side in (self.width_m, self.height_m))
        if columns * rows > MOST_SQUARES:
            raise UserError(
                f"an area of {self.width_m / 1000:,.0f} km x {self.height_m / 1000:,.0f} km has "
                f"{columns * rows:,} squares of {side_m:g} m, more than {MOST_SQUARES:,}; choose "
                "larger squares or a smaller area"
            )
        x_m = self.x_min_m + (np.arange(columns) + 0.5) * self.width_m / columns
        y_m = self.y_min_m + (np.arange(rows) + 0.5) * self.height_m / rows
        return np.stack(np.meshgrid(x_m, y_m), axis=-1).reshape(-1, 2)

    def nearest_inside(self, xy_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """Each point, or the nearest one of the area if it lies outside."""
        return np.clip(xy_m, *self.corners_m)

    def contains(self, xy_m: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which points lie inside; a reconstruction that does not is "diverged" in the paper."""
        low, high = self.corners_m
        inside: NDArray[np.bool_] = np.all((xy_m >= low) & (xy_m <= high), axis=-1)
        return inside
