"""The public squares of an area, over which phones say what they measured."""

from dataclasses import dataclass
from math import ceil, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.errors import UserError, out_of_range

LEAST_SIDE_M = 25.0  # about as fine as the fixes of phones
_USUAL_SQUARES = 10_000
_STEP_M = 5.0
# A kriging map's state is 128 bytes for each, and kriging them takes half a minute and 1.4 GB.
MOST_SQUARES = 1_000_000
OUTSIDE = -1


def usual_side_m(area: Area) -> float:
    """max(25 m, √(area / 10,000)), rounded up to 5 m: all sides can compute it in public."""
    side_m = sqrt(area.width_m * area.height_m / _USUAL_SQUARES)
    return max(LEAST_SIDE_M, ceil(side_m / _STEP_M) * _STEP_M)


@dataclass(frozen=True)
class SquareGrid:
    """Squares from the south-west corner of an area; numbered along rows, from the south."""

    x_min_m: float
    y_min_m: float
    side_m: float
    rows: int
    columns: int

    @classmethod
    def of(cls, area: Area, side_m: float | None = None) -> "SquareGrid":
        """Over the whole area.

        Raises:
            UserError: there would be more squares than fit into memory.
        """
        side_m = usual_side_m(area) if side_m is None else side_m
        if not side_m > 0:
            raise out_of_range("square_m", "a number of metres above 0", side_m)
        rows, columns = _rows_and_columns(area, side_m)
        if rows * columns > MOST_SQUARES:
            raise UserError(
                f"squares of {side_m:g} m make a grid of {rows * columns:,.0f} over an area of "
                f"{area.width_m / 1000:,.1f} km x {area.height_m / 1000:,.1f} km, more than "
                f"{MOST_SQUARES:,} that fit into memory; take --square {_side_that_fits_m(area):g}"
            )
        return cls(area.x_min_m, area.y_min_m, side_m, int(rows), int(columns))

    def __len__(self) -> int:
        return self.rows * self.columns

    @property
    def width_m(self) -> float:
        return self.columns * self.side_m

    @property
    def height_m(self) -> float:
        return self.rows * self.side_m

    def squares(self, xy_m: NDArray[np.float64]) -> NDArray[np.int64]:
        """The number of the square of each position; -1 outside the grid."""
        column, row = np.floor((xy_m - (self.x_min_m, self.y_min_m)) / self.side_m).T
        inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
        numbers = np.where(inside, row * self.columns + column, OUTSIDE)
        return numbers.astype(np.int64)

    def fractional_index(self, xy_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions as fractional rows and columns, whole at the middles of squares."""
        steps = (xy_m - (self.x_min_m, self.y_min_m)) / self.side_m - 0.5
        found: NDArray[np.float64] = steps[:, ::-1]
        return found

    def nearest(self, xy_m: NDArray[np.float64]) -> NDArray[np.int64]:
        """The number of the nearest square of each position, which may lie outside."""
        last = (self.rows - 1, self.columns - 1)
        steps = np.floor((xy_m - (self.x_min_m, self.y_min_m)) / self.side_m)[:, ::-1]
        row, column = np.clip(steps, 0, last).astype(np.int64).T
        found: NDArray[np.int64] = row * self.columns + column
        return found

    def centres_m(self, squares: NDArray[np.int64]) -> NDArray[np.float64]:
        """The middles of squares."""
        row, column = np.divmod(squares, self.columns)
        south_west = np.array([self.x_min_m, self.y_min_m])
        centres: NDArray[np.float64] = (
            south_west + (np.column_stack([column, row]) + 0.5) * self.side_m
        )
        return centres


def _rows_and_columns(area: Area, side_m: float) -> tuple[float, float]:
    """Whole numbers, or infinity for a tiny side."""
    return float(np.floor(area.height_m / side_m)) + 1, float(np.floor(area.width_m / side_m)) + 1


def _side_that_fits_m(area: Area) -> float:
    """The shortest side of whole 5 m with which the grid fits."""
    fewest_m = sqrt(area.width_m * area.height_m / MOST_SQUARES)
    side_m = max(fewest_m // _STEP_M, 1) * _STEP_M
    while prod(_rows_and_columns(area, side_m)) > MOST_SQUARES:
        side_m += _STEP_M
    return side_m
