"""RMSE of the map on a set of measurements."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from veilmap.federation import verbs
from veilmap.federation.map_family import Arrays
from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData


class Evaluation:
    """Measurements ready to be compared with predictions.

    Resting phones repeat their positions, so the map is asked once per distinct position.
    With c points of mean ȳ at one of them, Σ(F − y)² = c·(F − ȳ)² + Σ(y − ȳ)².
    """

    def __init__(self, plan: Plan, data: LocalData) -> None:
        self._plan = plan
        xy_m, where = np.unique(data.xy_m, axis=0, return_inverse=True)
        self._xy_m = xy_m
        self._counts = np.bincount(where)
        self._means = np.bincount(where, data.rsrp_dbm) / self._counts
        self._scatter = float(((data.rsrp_dbm - self._means[where]) ** 2).sum())

    def __len__(self) -> int:
        return int(self._counts.sum())

    def rmse_db(self, state: Arrays) -> float:
        """The root of the mean squared error in dB."""
        return float(np.sqrt(self.squared_error(state) / len(self)))

    def squared_error(self, state: Arrays) -> float:
        """The sum over all measurements, in dB²."""
        predicted = verbs.predict(self._plan.map, self._plan, state, self._xy_m)
        errors = predicted.rsrp_dbm - self._means
        return float((self._counts * errors**2).sum()) + self._scatter


def joint_rmse_db(evaluations: Sequence[Evaluation], state: Arrays) -> float:
    """Over several sets together."""
    total = sum(each.squared_error(state) for each in evaluations)
    return sqrt(total / sum(len(each) for each in evaluations))
