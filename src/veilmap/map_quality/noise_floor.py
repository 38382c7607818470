"""The error that no map can avoid: how much the signal at one place differs from time to time."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from veilmap.measurements import Measurements
from veilmap.metrics.map_errors import places
from veilmap.rounds import sessions

SIDE_M = 20.0  # about the error of a phone's position


@dataclass(frozen=True)
class NoiseFloor:
    """The estimated least RMSE, over rows and over places, and what it was estimated from.

    Attributes:
        rmse_db: each place with the weight of its rows.
        rmse_by_place_db: each place with the same weight.
        places: those that several sessions visited.
        rows_share: the share of all rows that lie in them.
    """

    rmse_db: float
    rmse_by_place_db: float
    places: int
    rows_share: float


def noise_floor(data: Measurements) -> NoiseFloor | None:
    """From repeated measurements in places of 20 m; None if no place has several sessions."""
    return floor_of(data.xy_m, data.table["rsrp_dbm"].to_numpy(), sessions(data))


def floor_of(
    xy_m: NDArray[np.float64], rsrp_dbm: NDArray[np.float64], session: NDArray[np.int64]
) -> NoiseFloor | None:
    """The variance within a place, of places that k >= 2 sessions visited.

    Row i of session j measures y_ij = f + b_j + e_ij, where b_j is the same in all n_j rows. With
    the mean m_j of the session's rows and their variance w_j = Σ_i (y_ij − m_j)² / n_j,

        Σ_j (m_j − m)² / (k − 1)  +  Σ_j w_j / k        with m = Σ_j m_j / k

    has the expectation var(b) + var(e): E[w_j] = var(e)·(1 − 1/n_j), and what it lacks is in the
    variance of m_j. The variance of all rows would be too small, since rows of a session share b_j.
    """
    place = places(xy_m, SIDE_M)
    keys, group, n = np.unique(
        np.column_stack([place, session]), axis=0, return_inverse=True, return_counts=True
    )
    group = group.ravel()
    mean = np.bincount(group, rsrp_dbm) / n
    within = np.bincount(group, (rsrp_dbm - mean[group]) ** 2) / n
    of_place = keys[:, 0]
    k = np.bincount(of_place)
    middle = np.bincount(of_place, mean) / k
    between = np.bincount(of_place, (mean - middle[of_place]) ** 2)
    repeated = k >= 2
    if not repeated.any():
        return None
    variance = between[repeated] / (k[repeated] - 1)
    variance += (np.bincount(of_place, within) / k)[repeated]
    rows = np.bincount(of_place, n)[repeated]
    return NoiseFloor(
        rmse_db=sqrt(np.average(variance, weights=rows)),
        rmse_by_place_db=sqrt(variance.mean()),
        places=int(repeated.sum()),
        rows_share=float(rows.sum() / len(rsrp_dbm)),
    )
