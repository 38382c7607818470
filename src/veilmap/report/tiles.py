"""A cloud's weight per tile, from which its density is drawn."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.attacks.reconstruction import Cloud

_MOST_PER_SIDE, _FEWEST_PER_SIDE = 60, 8
_LEAST_SPACING_M = 1.0  # places closer than this are one place

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tiles:
    """Equal rectangles that cover a view, given by their edges along both axes."""

    x_edges_m: Array
    y_edges_m: Array

    @classmethod
    def fitting(cls, cloud: Cloud, view: Area) -> "Tiles":
        """As large as the spacing of the cloud's own grid, or a multiple or part of it.

        Other tiles would alias with that grid: some would hold one of its points, others two. There
        are at most 60 along the longer side of the view; points that leave room for fewer than 8
        are sparse, not a grid, and get tiles of the smallest size.
        """
        longer_m = max(view.width_m, view.height_m)
        range_m = longer_m / _MOST_PER_SIDE, longer_m / _FEWEST_PER_SIDE
        x_m, y_m = cloud.xy_m.T
        return cls(
            _edges_m(x_m, view.x_min_m, view.x_max_m, *range_m),
            _edges_m(y_m, view.y_min_m, view.y_max_m, *range_m),
        )

    @property
    def sides_m(self) -> tuple[float, float]:
        """East-west and north-south."""
        east_m, north_m = (edges[1] - edges[0] for edges in (self.x_edges_m, self.y_edges_m))
        return float(east_m), float(north_m)

    def shares(self, cloud: Cloud) -> Array:
        """The share of the cloud's weight in each tile, row by row from the south."""
        edges = (self.y_edges_m, self.x_edges_m)
        x_m, y_m = cloud.xy_m.T
        shares: Array = np.histogram2d(y_m, x_m, bins=edges, weights=cloud.weights)[0]
        return shares

    def gathered(self, cloud: Cloud) -> Cloud:
        """The same with the weight of each tile at its centre."""
        shares = self.shares(cloud)
        row, column = np.nonzero(shares)
        x_m, y_m = ((edges[1:] + edges[:-1]) / 2 for edges in (self.x_edges_m, self.y_edges_m))
        return Cloud(np.column_stack([x_m[column], y_m[row]]), shares[row, column])


def pooled(clouds: Iterable[Cloud]) -> Cloud:
    """All clouds in one, without points that are not finite or have no weight."""
    several = list(clouds)
    xy_m = np.concatenate([np.empty((0, 2)), *(cloud.xy_m for cloud in several)])
    weights = np.concatenate([np.empty(0), *(cloud.weights for cloud in several)])
    held = np.isfinite(xy_m).all(axis=1) & (weights > 0)
    return Cloud(xy_m[held], weights[held] / max(weights[held].sum(), np.finfo(float).tiny))


def _edges_m(along_m: Array, low_m: float, high_m: float, least_m: float, most_m: float) -> Array:
    """Edges from below ``low_m`` to above ``high_m``, with the cloud's places inside the tiles."""
    places_m = np.unique(along_m)
    spacing_m = _spacing_m(places_m, otherwise_m=least_m)
    parts = np.floor(spacing_m / least_m) if spacing_m > most_m else 1
    side_m = spacing_m * np.ceil(least_m / spacing_m) / parts
    first_m = (places_m[0] if len(places_m) else low_m) - min(spacing_m, side_m) / 2
    start_m = first_m + np.floor((low_m - first_m) / side_m) * side_m
    edges_m: Array = start_m + side_m * np.arange(np.ceil((high_m - start_m) / side_m) + 1)
    return edges_m


def _spacing_m(places_m: Array, otherwise_m: float) -> float:
    """Between neighbours on the grid: the mean of the shortest gaps, because float32 is coarse."""
    gaps_m = np.diff(places_m)
    gaps_m = gaps_m[gaps_m > _LEAST_SPACING_M]
    return float(gaps_m[gaps_m < 1.5 * gaps_m.min()].mean()) if len(gaps_m) else otherwise_m
