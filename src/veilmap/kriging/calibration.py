"""How wide intervals must be to cover what they say, learned from rounds that were set aside."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.kriging.kernel import Kernel, Vector
from veilmap.kriging.krige import krige
from veilmap.metrics.map_errors import places
from veilmap.square_grid import SquareGrid

LEVELS = (0.68, 0.95)
NORMAL = (0.9945, 1.96)  # what covers as much of a normal distribution
# With so many places set aside, what they say and the normal distribution count the same.
_HALF_TRUST = 10
# Of more squares, one fold in place of all has enough places, and kriging takes long.
_ALL_FOLDS_BELOW = 1000
# Of fewer places, intervals are rough.
FEW_PLACES = 50
# Intervals no narrower than this part of the normal ones, whatever was set aside.
_LEAST = 0.1


@dataclass(frozen=True)
class Calibration:
    """Half widths of intervals, in standard deviations of a value that a phone would report.

    Attributes:
        within_68: of the interval that covers 68 %.
        within_95: of the one that covers 95 %.
        places: how many places of 50 m it was learned from; with less than some 50 it says little.
    """

    within_68: float = NORMAL[0]
    within_95: float = NORMAL[1]
    places: int = 0


def calibrated(
    kernel: Kernel, grid: SquareGrid, squares: NDArray[np.int64], k: Vector, sums_db: Vector
) -> Calibration:
    """From counts and sums of some squares, one row per fold of the rounds.

    Each fold in turn is set aside and predicted from the others, with the kernel of all. The half
    width q is the quantile of |error| / √(v + τ²/k) with every place of 50 m counting the same, and
    one more value of mean weight beyond all (after cross-conformal prediction: Vovk 2015). Few
    places pull it to the normal distribution's z: q = z (q/z)^λ with λ = n / (n + 10).
    """
    found = list(_set_aside(kernel, grid, squares, k, sums_db))
    if not found:
        return Calibration()
    where, in_std = (np.concatenate(each) for each in zip(*found, strict=True))
    place = places(grid.centres_m(where))
    counts = np.bincount(place)
    trust = len(counts) / (len(counts) + _HALF_TRUST)
    within_68, within_95 = (
        usual * max(_quantile(in_std, 1 / counts[place], level) / usual, _LEAST) ** trust
        for level, usual in zip(LEVELS, NORMAL, strict=True)
    )
    return Calibration(within_68, within_95, len(counts))


def _set_aside(
    kernel: Kernel, grid: SquareGrid, squares: NDArray[np.int64], k: Vector, sums_db: Vector
) -> Iterator[tuple[NDArray[np.int64], Vector]]:
    """The squares of each fold and |error| in standard deviations there."""
    folds = [fold for fold in range(len(k)) if k[fold].any()]
    if len(squares) > _ALL_FOLDS_BELOW:
        folds = folds[:1]
    for fold in folds:
        rest_k, rest_db = k.sum(axis=0) - k[fold], sums_db.sum(axis=0) - sums_db[fold]
        known, aside = rest_k > 0, k[fold] > 0
        if not known.any():
            continue
        rest = rest_db[known] / rest_k[known]
        kriged = krige(kernel, grid, squares[known], rest, rest_k[known])
        mean_db, std_db = kriged.predict(grid.centres_m(squares[aside]))
        error_db = np.abs(sums_db[fold, aside] / k[fold, aside] - mean_db)
        yield squares[aside], error_db / np.hypot(std_db, kernel.noise_db / np.sqrt(k[fold, aside]))


def _quantile(values: Vector, weights: NDArray[np.float64], level: float) -> float:
    """Weighted, with one more value of mean weight above all."""
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order]) / (weights.sum() + weights.mean())
    return float(values[order][min(int(np.searchsorted(shares, level)), len(values) - 1)])
