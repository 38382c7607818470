"""RMSE of the map on a set of measurements."""

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.plan import Plan
from veilmap.local_data import LocalData
from veilmap.model.training import predict


class Evaluation:
    """Measurements ready to be compared with predictions.

    Resting phones repeat their positions, so the network is asked once per distinct position.
    With c points of mean ȳ at one of them, Σ(F − y)² = c·(F − ȳ)² + Σ(y − ȳ)².
    """

    def __init__(self, plan: Plan, data: LocalData) -> None:
        self._plan = plan
        xy_m, where = np.unique(data.xy_m, axis=0, return_inverse=True)
        self._xy_std = plan.scaler.standardise(xy_m)
        self._counts = np.bincount(where)
        self._means = np.bincount(where, data.rsrp_dbm) / self._counts
        self._scatter = float(((data.rsrp_dbm - self._means[where]) ** 2).sum())

    def rmse_db(self, weights: NDArray[np.float32]) -> float:
        """The root of the mean squared error in dB."""
        predicted_dbm = predict(self._plan.network, weights, self._xy_std).astype(np.float64)
        errors = predicted_dbm + self._plan.label_offset_dbm - self._means
        total = (self._counts * errors**2).sum() + self._scatter
        return float(np.sqrt(total / self._counts.sum()))
