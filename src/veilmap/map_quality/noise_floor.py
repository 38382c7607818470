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
    """The variance within a place, by the analysis of variance of places with k >= 2 sessions.

    Row i of session j measures y_ij = f + b_j + e_ij, where b_j is the same in all n_j rows. With
    N = Σ n_j and the sums of squares within sessions and between them,

        W = Σ_ij (y_ij − m_j)²            var(e) = W / (N − k)
        B = Σ_j n_j (m_j − m)²            var(b) = (B − (k − 1)·var(e)) / (N − Σ n_j² / N)

    each without bias (Searle, Casella and McCulloch, Variance Components, section 3.6), and the
    floor of the place is var(b) + var(e). The variance of all rows would be too small, since rows
    of a session share b_j. Sessions weigh by their rows, as they do in the error of a map.
    """
    place = places(xy_m, SIDE_M)
    keys, group, n = np.unique(
        np.column_stack([place, session]), axis=0, return_inverse=True, return_counts=True
    )
    group = group.ravel()
    of_place, mean = keys[:, 0], np.bincount(group, rsrp_dbm) / n
    within = np.bincount(place, (rsrp_dbm - mean[group]) ** 2)
    k, rows = np.bincount(of_place), np.bincount(place)
    middle = np.bincount(place, rsrp_dbm) / rows
    between = np.bincount(of_place, n * (mean - middle[of_place]) ** 2)
    # Where each session has one row, what would be var(e) is in B.
    of_rows = within / np.maximum(rows - k, 1)
    degrees = rows - np.bincount(of_place, n**2) / rows
    repeated = k >= 2
    if not repeated.any():
        return None
    variance = (between - (k - 1) * of_rows)[repeated] / degrees[repeated] + of_rows[repeated]
    return NoiseFloor(
        rmse_db=sqrt(np.average(variance, weights=rows[repeated])),
        rmse_by_place_db=sqrt(variance.mean()),
        places=int(repeated.sum()),
        rows_share=float(rows[repeated].sum() / len(rsrp_dbm)),
    )
