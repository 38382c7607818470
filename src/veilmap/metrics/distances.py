"""How far the locations and clouds that an attack found lie from the true points.

A figure is None where nothing was found, so that it is undefined.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.local_data import LocalData
from veilmap.metrics.clouds import WeightedPoints
from veilmap.metrics.transport import emd_m, emds_m
from veilmap.metrics.weighted_points import Points, Weights
from veilmap.streams import stream

_RANDOM_DRAWS = 5
# For what is computed many times: equally spaced directions differ from 1,000 by less than 0.1 %.
FEWER_PROJECTIONS = 100


def emds_or_none_m(
    true_m: Points,
    found_m: Sequence[Points],
    weights: Sequence[Weights | None],
    projections: int = 1000,
) -> list[float | None]:
    """Sliced EMD to each set, in metres; None where nothing was found."""
    some = [number for number, xy_m in enumerate(found_m) if len(xy_m)]
    sets, masses = [found_m[i] for i in some], [weights[i] for i in some]
    costs_m = emds_m(true_m, sets, None, masses, projections)
    known = dict(zip(some, costs_m, strict=True))
    return [known.get(number) for number in range(len(found_m))]


def random_emd_m(true_m: Points, area: Area, points: int, seed: int) -> tuple[float, ...]:
    """The EMD of a guessing attacker: uniform points in the area, draw by draw."""
    if not points:
        return ()
    guesses = list(_guesses_m(area, points, seed))
    return tuple(emds_m(true_m, guesses, projections=FEWER_PROJECTIONS))


def round_emd_m(truth: Sequence[LocalData], clouds: Sequence[WeightedPoints]) -> float | None:
    """The median over rounds of the EMD between a round's cloud and its true points.

    A round without a cloud counts as infinitely far.
    """
    return median_or_none(
        [
            emd_m(this.xy_m, xy_m, b_weights=weights, projections=FEWER_PROJECTIONS)
            if len(xy_m)
            else np.inf
            for this, (xy_m, weights) in zip(truth, clouds, strict=True)
        ]
    )


def centroid_distances_m(truth: Sequence[LocalData], found_m: Points) -> NDArray[np.float64]:
    """Per round, from the centroid of the whole round; infinite if nothing was found."""
    centroids_m = np.array([this.centroid_m for this in truth])
    away_m = np.hypot(*(found_m - centroids_m).T)
    return np.where(np.isfinite(away_m), away_m, np.inf)


def nearest_distances_m(truth: Sequence[LocalData], found_m: Points) -> NDArray[np.float64]:
    """Per round, to the nearest point where the user was; infinite if nothing was found.

    A defence that hides the centroid may still reveal a place: the one it trained on.
    """
    away_m = [
        np.hypot(*(this.xy_m - xy_m).T).min() for this, xy_m in zip(truth, found_m, strict=True)
    ]
    return np.where(np.isfinite(away_m), away_m, np.inf)


def random_nearest_m(truth: Sequence[LocalData], area: Area, seed: int) -> float:
    """The median over rounds for a guessing attacker, averaged over the draws."""
    medians_m = [
        np.median(nearest_distances_m(truth, guess)) for guess in _guesses_m(area, len(truth), seed)
    ]
    return float(np.mean(medians_m))


def _guesses_m(area: Area, points: int, seed: int) -> NDArray[np.float64]:
    """Uniform in the area, (draws, points, 2)."""
    low, high = area.corners_m
    return stream(seed, "random reference").uniform(low, high, (_RANDOM_DRAWS, points, 2))


def mean_or_none(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """The mean; None if there are no values."""
    return float(np.mean(values)) if len(values) else None


def median_or_none(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """The median; None if there are no values, or if it is not finite."""
    middle = float(np.median(values)) if len(values) else np.inf
    return middle if np.isfinite(middle) else None


def root_or_none(value: float | None) -> float | None:
    """The square root, which turns ``emd_m`` into ``emd_paper``."""
    return None if value is None else sqrt(value)
