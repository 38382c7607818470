"""The public density of people on the squares of a grid, as the prior of home."""

import numpy as np

from veilmap.attacks.density import Density
from veilmap.attacks.sums.history import Floats
from veilmap.square_grid import OUTSIDE, SquareGrid

# This part of all homes lies anywhere, also where no one was seen.
ANYWHERE = 0.1


def density_on(grid: SquareGrid, density: Density | None) -> Floats:
    """Shares of all squares that sum to 1; all equal where no density is known."""
    uniform = np.full(len(grid), 1 / len(grid))
    if density is None:
        return uniform
    square = grid.squares(density.xy_m)
    inside = square != OUTSIDE
    visits = np.bincount(square[inside], density.weights[inside], len(grid))
    if not visits.any():
        return uniform
    mixed: Floats = (1 - ANYWHERE) * visits / visits.sum() + ANYWHERE * uniform
    return mixed
