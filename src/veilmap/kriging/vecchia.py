"""A sparse root of the inverse covariance between squares."""

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from veilmap.kriging.grid_covariance import THREADS, GridCovariance, Indices, with_noise
from veilmap.kriging.kernel import Vector
from veilmap.streams import stream

_PARENTS = 20  # squares that a square is conditioned on
_SEARCHED = 3 * _PARENTS  # nearest squares among which those earlier in the order are looked for
_UNKNOWN = 1e30  # the noise of a square that is not to be conditioned on
_BLOCK = 1 << 22  # covariances held at once


def inverse_root(covariance: GridCovariance, squares: Indices, noise: Vector) -> csr_array:
    """Sparse G with Gᵀ G ≈ (C + noise)⁻¹.

    Vecchia's approximation (J. R. Stat. Soc. B 50, 1988) in random order (Guinness,
    Technometrics 60, 2018): a square depends on the nearest ones before it only. As a
    preconditioner: Kolotilina and Yeremin, SIAM J. Matrix Anal. Appl. 14 (1993).
    """
    rank = stream(0, "vecchia order").permutation(len(squares))
    columns = _nearest_before(squares, rank)
    values = np.empty(columns.shape)
    first = np.eye(columns.shape[1])[:, :1]
    step = max(_BLOCK // columns.shape[1] ** 2, 1)
    for start in range(0, len(columns), step):
        some = columns[start : start + step]
        usable = np.where(rank[some] > rank[some[:, :1]], _UNKNOWN, noise[some])
        rows = np.linalg.solve(with_noise(covariance, squares[some], usable), first)[..., 0]
        values[start : start + step] = rows / np.sqrt(rows[:, :1])
    ends = np.arange(0, values.size + 1, columns.shape[1])
    return csr_array((values.ravel(), columns.ravel(), ends), shape=(len(columns),) * 2)


def _nearest_before(squares: Indices, rank: Indices) -> Indices:
    """Of each square: itself, the nearest of lower rank and, where these are too few, of higher.

    Searched for among ever fewer squares, for the upper half of whose ranks each time: about
    half or more of what is near such a square is of lower rank.
    """
    found = np.empty((len(squares), min(len(squares), _PARENTS + 1)), dtype=np.intp)
    end = len(squares)
    while end > 0:
        start = end // 2 if end > _SEARCHED else 0
        among = np.flatnonzero(rank < end)
        some = among[rank[among] >= start]
        nearest = np.arange(1, min(end, _SEARCHED) + 1)
        _, near = cKDTree(squares[among]).query(squares[some], nearest, workers=THREADS)
        near = among[near]
        higher = rank[near] > rank[some, None]
        chosen = np.argsort(higher, axis=1, kind="stable")[:, : found.shape[1]]
        found[some] = np.take_along_axis(near, chosen, axis=1)
        end = start
    return found
