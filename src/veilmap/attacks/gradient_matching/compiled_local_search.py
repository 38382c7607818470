"""``local_search`` compiled, one point after the other; requires numba.

The neighbours of a point lie in the same linear piece or in an adjacent one, so that evaluating
them takes one product of a vector with the active columns of W_2, and no matrix product.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.gradient_matching.compiled_regions import Moving, cosine_at, reset_if_worn
from veilmap.attacks.gradient_matching.local_search import (
    CLOSER,
    NARROWER,
    RIDGE,
    STENCIL,
    TIE,
    WIDER,
    Bounds,
    SearchPoints,
)
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.regions import Pieces
from veilmap.model.compiling import compiled

Array = NDArray[np.float64]

_AROUND = np.array(STENCIL, float)
_NUMBER = {place: number for number, place in enumerate(STENCIL)}
_WEST, _EAST, _SOUTH, _NORTH = (_NUMBER[place] for place in [(-1, 0), (1, 0), (0, -1), (0, 1)])
_SW, _NW, _SE, _NE = (_NUMBER[place] for place in [(-1, -1), (-1, 1), (1, -1), (1, 1)])
_ANYWHERE = torch.tensor([[-torch.inf] * 2, [torch.inf] * 2], dtype=torch.float64)


class CompiledLocalSearch:
    """For the updates of a matching in float64, under a network that is linear in pieces."""

    def __init__(self, matching: Matching) -> None:
        pieces = [Pieces.of(matching, update) for update in range(len(matching.gradient[0]))]
        self._regions = [(each, Moving.begin(each)) for each in pieces]

    def __call__(
        self, points: SearchPoints, most: int, exact: Tensor, bounds: Bounds
    ) -> SearchPoints:
        """As ``local_search``."""
        ended = SearchPoints(*(values.clone() for values in points))
        arrays = [values.numpy() for values in ended]
        limits = exact.numpy(), *(each.numpy() for each in (bounds or _ANYWHERE))
        for update, region in enumerate(self._regions):
            for place in range(ended.cosines.shape[1]):
                point = [values[update, place : place + 1].reshape(-1) for values in arrays]
                _search(*region, tuple(point), most, limits)
        return ended


@compiled
def _search(pieces: Pieces, moving: Moving, point: Any, most: int, limits: Any) -> None:
    """The steps of one of the ``SearchPoints``, in place."""
    centre, width, widest, place, cosine, believed = point
    exact, low, high = limits
    reset_if_worn(pieces, moving)
    seen = np.empty(9)
    for _ in range(most):
        if cosine[0] > -np.inf and (width <= exact).all():
            break
        highest = 0
        for k in range(9):
            x, y = _inside(centre + width * _AROUND[k], low, high)
            cosine_here = cosine_at(pieces, moving, x, y)
            seen[k] = cosine_here if cosine_here >= 0 else -1.0  # NaN: a product overflows far out
            highest = k if seen[k] > seen[highest] else highest
        better = seen[highest] > cosine[0] - TIE
        if better:
            place[0], place[1] = _inside(centre + width * _AROUND[highest], low, high)
            cosine[0] = max(seen[highest], cosine[0])
        top_x, top_y, is_top = _top(seen)
        if better and is_top:
            factor = CLOSER
            centre[0], centre[1] = _inside(centre + width * np.array([top_x, top_y]), low, high)
        else:
            factor = NARROWER if not (better and highest) else WIDER
            factor = NARROWER / CLOSER if believed[0] and not better else factor
            centre[:] = place
        believed[0] = better and is_top
        width[:] = np.minimum(width * factor, widest)


@compiled
def _inside(place: Array, low: Array, high: Array) -> tuple[float, float]:
    x, y = np.minimum(np.maximum(place, low), high)
    return x, y


@compiled
def _top(seen: Array) -> tuple[float, float, bool]:
    """The maximum of the paraboloid, in widths, and whether it lies among the nine."""
    slope_x, slope_y = (seen[_EAST] - seen[_WEST]) / 2, (seen[_NORTH] - seen[_SOUTH]) / 2
    bend_x = seen[_EAST] - 2 * seen[0] + seen[_WEST]
    bend_y = seen[_NORTH] - 2 * seen[0] + seen[_SOUTH]
    twist = (seen[_NE] - seen[_SE] - seen[_NW] + seen[_SW]) / 4
    determinant = bend_x * bend_y - twist * twist
    x = (twist * slope_y - bend_y * slope_x) / determinant
    y = (twist * slope_x - bend_x * slope_y) / determinant
    is_hill = determinant > RIDGE * (bend_x * bend_x + bend_y * bend_y) and bend_x < 0
    return x, y, is_hill and abs(x) <= 1 and abs(y) <= 1
