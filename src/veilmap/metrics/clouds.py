"""The distributions of places that an attack found, one per round, cut to their usable part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.metrics.weighted_points import Points, Weights

WeightedPoints = tuple[Points, Weights]  # one round's points and weights


@dataclass(frozen=True)
class Pool:
    """The clouds of several rounds as one set of points; ``of_round`` counts from 0."""

    xy_m: Points
    weights: Weights
    of_round: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.weights)


def in_area(cloud: WeightedPoints, area: Area) -> WeightedPoints:
    """The part of a cloud that lies in the area and has weight, perhaps empty; weights sum to 1.

    The attacker knows the area and would discard the rest too; the paper leaves out locations
    outside it as diverged.
    """
    xy_m, weights = np.asarray(cloud[0], np.float64), np.asarray(cloud[1], np.float64)
    usable = area.contains(xy_m) & (weights > 0)
    return xy_m[usable], weights[usable] / weights[usable].sum()


def pool(clouds: Sequence[WeightedPoints], counts: Sequence[int]) -> Pool:
    """All clouds together, each with the weight of the points that its round counts."""
    sizes = [len(weights) for _, weights in clouds]
    weighted = [weights * count for (_, weights), count in zip(clouds, counts, strict=True)]
    return Pool(
        np.concatenate([xy_m for xy_m, _ in clouds]),
        np.concatenate(weighted),
        np.repeat(np.arange(len(clouds)), sizes),
    )


def cloud_faults(clouds: Sequence[WeightedPoints]) -> Iterator[UserError]:
    """Why the clouds cannot be scored; positions that are not finite are no reason."""
    for number, cloud in enumerate(clouds, 1):
        xy_m, weights = np.asarray(cloud[0], np.float64), np.asarray(cloud[1], np.float64)
        which = f"cloud {number:,} of {len(clouds):,}"
        if xy_m.ndim != 2 or xy_m.shape != (*weights.shape, 2):
            yield UserError(
                f"{which} must have one row (x, y) and one weight per point, got shapes "
                f"{xy_m.shape} and {weights.shape}"
            )
        elif not (np.isfinite(weights).all() and (weights >= 0).all()):
            yield UserError(
                f"the weights of {which} must be finite and none negative, "
                f"got {weights.min():g} to {weights.max():g}"
            )
