"""How far a map is from test measurements: per row, by place, where it matters.

Phones measure most where they rest. Per row, the places where they rest decide; by place, every
place of the area counts the same.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from veilmap.local_data import LocalData

PLACE_M = 50.0
THRESHOLD_DBM = -110.0  # below it calls and data sessions fail
_LOW_SHARE = 0.25
# Smaller mean squared errors of the constant, in dB², are rounding.
_EXACT = 1e-12

Values = NDArray[np.float64]


def places(xy_m: NDArray[np.float64], side_m: float = PLACE_M) -> NDArray[np.int64]:
    """The square of this side in which each position lies, numbered from 0."""
    squares = np.floor(xy_m / side_m).astype(np.int64)
    _, number = np.unique(squares, axis=0, return_inverse=True)
    return number.ravel()


def mean_by_place(values: Values, place: NDArray[np.int64]) -> Values:
    """The mean of the values in each place."""
    means: Values = np.bincount(place, values) / np.bincount(place)
    return means


@dataclass(frozen=True)
class SquaredErrors:
    """Mean squared errors in dB²: over all rows, and over 50 m places of their mean in each."""

    per_row: float
    by_place: float

    @property
    def rmse_db(self) -> float:
        """The usual RMSE."""
        return sqrt(self.per_row)

    @property
    def rmse_by_place_db(self) -> float:
        """The root of the mean over places."""
        return sqrt(self.by_place)


@dataclass(frozen=True)
class Skill:
    """1 − MSE / MSE of the constant: 0 is worth nothing, 1 is the truth, below 0 misleads.

    None where the constant is exact.
    """

    per_row: float | None
    by_place: float | None

    @classmethod
    def of(cls, errors: SquaredErrors, constant: SquaredErrors) -> "Skill":
        """Of a map beside the constant on the same data."""
        return cls(
            _skill(errors.per_row, constant.per_row), _skill(errors.by_place, constant.by_place)
        )


@dataclass(frozen=True)
class Coverage:
    """How well a map finds the places without coverage, whose mean signal is below a threshold.

    Recall is None if there are none, precision if the map names none, and F1 if both are missing.
    """

    recall: float | None
    precision: float | None

    @property
    def f1(self) -> float | None:
        """2·true / (named + there)."""
        if self.recall is None and self.precision is None:
            return None
        if not self.recall or not self.precision:
            return 0.0
        return 2 * self.recall * self.precision / (self.recall + self.precision)


class TestSet:
    """Measurements to be compared with what a map predicts at ``xy_m``.

    Resting phones repeat their positions, so a map is asked once per distinct position. With c rows
    of mean ȳ at one of them, Σ(F − y)² = c·(F − ȳ)² + Σ(y − ȳ)².
    """

    __test__ = False  # for pytest

    def __init__(self, data: LocalData) -> None:
        self.data = data
        self.xy_m, position = np.unique(data.xy_m, axis=0, return_inverse=True)
        self._position, self._place = position.ravel(), places(data.xy_m)
        self._counts = np.bincount(self._position)
        self._means = np.bincount(self._position, data.rsrp_dbm) / self._counts
        scatter = (data.rsrp_dbm - self._means[self._position]) ** 2
        self._scatter = float(scatter.sum())
        rows = np.bincount(self._place)
        by_place = 1 / (len(rows) * rows[self._place])
        self._scatter_by_place = float(by_place @ scatter)
        # A position lies in one place, so all its rows weigh the same.
        self._weights_by_place = np.bincount(self._position, by_place)

    def __len__(self) -> int:
        return len(self.data)

    def errors(self, predicted_dbm: Values) -> SquaredErrors:
        """Of predictions at ``xy_m``."""
        by_place = self._weights_by_place @ (predicted_dbm - self._means) ** 2
        per_row = self.squared_error(predicted_dbm) / len(self)
        return SquaredErrors(per_row, float(by_place) + self._scatter_by_place)

    def squared_error(self, predicted_dbm: Values) -> float:
        """The sum over all rows, in dB²."""
        errors = predicted_dbm - self._means
        return float((self._counts * errors**2).sum()) + self._scatter

    def constant_errors(self, training: LocalData) -> SquaredErrors:
        """Of the best constants of the training data: its mean over rows, and over places."""
        over_rows = float(training.rsrp_dbm.mean())
        over_places = float(mean_by_place(training.rsrp_dbm, places(training.xy_m)).mean())
        return SquaredErrors(
            float(np.mean((self.data.rsrp_dbm - over_rows) ** 2)),
            self.errors(np.full(len(self.xy_m), over_places)).by_place,
        )

    def coverage(self, predicted_dbm: Values, threshold_dbm: float = THRESHOLD_DBM) -> Coverage:
        """Of the places whose measured mean is below the threshold."""
        measured, predicted = self._by_place(predicted_dbm)
        there, named = measured < threshold_dbm, predicted < threshold_dbm
        found = int((there & named).sum())
        return Coverage(
            found / int(there.sum()) if there.any() else None,
            found / int(named.sum()) if named.any() else None,
        )

    def low_signal_rmse_db(self, predicted_dbm: Values) -> float:
        """Over the quarter of the places with the lowest measured mean."""
        measured, predicted = self._by_place(predicted_dbm)
        low = np.argsort(measured, kind="stable")[: max(round(_LOW_SHARE * len(measured)), 1)]
        return float(np.sqrt(((predicted - measured)[low] ** 2).mean()))

    def _by_place(self, predicted_dbm: Values) -> tuple[Values, Values]:
        """What was measured in each place on average, and what is predicted."""
        return (
            mean_by_place(self.data.rsrp_dbm, self._place),
            mean_by_place(predicted_dbm[self._position], self._place),
        )


def _skill(error: float, of_constant: float) -> float | None:
    return 1 - error / of_constant if of_constant > _EXACT else None
