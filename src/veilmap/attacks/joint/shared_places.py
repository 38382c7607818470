"""The places that all rounds of a user share.

A mixture over places with hierarchical shares, by expectation maximisation. A point x of a reading
that is e off lies at the place p of round t with the chance m_t(p) N(x; p, s²), s = 1.5 e and at
least 15 m. m_t mixes what the round says with the shares of all rounds, G:

    m_t ∝ a_t π_t + G
    π_t(p) = Σ_i w_i m_t(p) N(x_i; p, s²) / Σ_q m_t(q) N(x_i; q, s²)
    G ∝ Σ_t a_t √n_t π_t

a_t = (30 m/e_t)², at most 9, is the worth of round t; √n_t, because points of one round depend on
each other. Few iterations: many would shrink a place to a point.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack
from scipy.spatial import KDTree

from veilmap.attacks.joint.readings import Reading
from veilmap.metrics.weighted_points import on_squares, square_numbers

Floats = NDArray[np.float64]

# Squares of this side become places, the heaviest first.
PLACE_M = 10.0
_MOST_PLACES = 2000
_WIDER, _SHARPEST_M, _BLUNTEST_M = 1.5, 15.0, 400.0
# A reading that is e off is worth (30 m/e)², and e at least 10 m.
_WORTH_ONE_M, _WORTH_MOST_M = 30.0, 10.0
_ITERATIONS = 6
# Places farther from a point than so many s do not explain it.
_REACH = 3.0


@dataclass(frozen=True)
class SharedPlaces:
    """Places with their shares.

    Attributes:
        xy_m: (places, 2).
        of_round: π, (rounds, places); each sums to 1.
        overall: G, (places,).
    """

    xy_m: Floats
    of_round: Floats
    overall: Floats


def places_of(rounds: Sequence[Sequence[Reading]], n: Sequence[int]) -> Floats:
    """The squares that hold points of readings, each at the mean of its points."""
    points = np.concatenate([each.cloud.xy_m for readings in rounds for each in readings])
    weights = np.concatenate(
        [
            each.cloud.weights * _worth(readings) * np.sqrt(count)
            for readings, count in zip(rounds, n, strict=True)
            for each in readings
        ]
    )
    return _on_squares(points, weights, PLACE_M)[0][:_MOST_PLACES]


def shared_places(
    xy_m: Floats,
    rounds: Sequence[Sequence[Reading]],
    n: Sequence[int],
    possible: NDArray[np.bool_],
) -> SharedPlaces:
    """The mixture of all rounds.

    Args:
        xy_m: the places.
        rounds: the readings of each round's message, at least one.
        n: the points of each round.
        possible: which places the user may have been at in which round, (rounds, places).
    """
    tree = KDTree(xy_m)
    mixtures = [_mixture(readings, tree) for readings in rounds]
    worth = np.array([_worth(readings) for readings in rounds])
    of_round = possible / possible.sum(axis=1, keepdims=True)
    overall = np.full(len(xy_m), 1 / len(xy_m))
    for _ in range(_ITERATIONS):
        mixed = (worth[:, None] * of_round + overall) * possible
        explained = [
            _explained(*each, chance) for each, chance in zip(mixtures, mixed, strict=True)
        ]
        of_round = np.array(explained)
        overall = (worth * np.sqrt(n)) @ of_round
        overall /= overall.sum()
    return SharedPlaces(xy_m, of_round, overall)


def _worth(readings: Sequence[Reading]) -> float:
    least_m = min(each.error_m for each in readings)
    return (_WORTH_ONE_M / max(least_m, _WORTH_MOST_M)) ** 2


def _mixture(readings: Sequence[Reading], tree: KDTree) -> tuple[csr_array, Floats]:
    """N(x_i; p, s²) of the points and places of a round, (points, places), and the points' w_i."""
    precisions = np.array([1 / (each.error_m**2 + _SHARPEST_M**2) for each in readings])
    kernels, weights = [], []
    for each, part in zip(readings, precisions / precisions.sum(), strict=True):
        width_m = float(np.clip(_WIDER * each.error_m, _SHARPEST_M, _BLUNTEST_M))
        # Points much closer together than s count as one.
        xy_m, own = _on_squares(each.cloud.xy_m, each.cloud.weights, width_m / 4)
        near = KDTree(xy_m).sparse_distance_matrix(tree, _REACH * width_m, output_type="coo_matrix")
        kernel = csr_array(near)
        kernel.data = np.exp(-((kernel.data / width_m) ** 2) / 2) / width_m**2
        kernels.append(kernel)
        weights.append(part * own / own.sum())
    return vstack(kernels, format="csr"), np.concatenate(weights)


def _explained(kernel: csr_array, weights: Floats, shares: Floats) -> Floats:
    """π of one round from m; m itself where places explain none of the points."""
    chance = kernel @ shares
    ratio = np.divide(weights, chance, out=np.zeros_like(chance), where=chance > 1e-300)
    explained: Floats = shares * (kernel.T @ ratio)
    found: Floats = explained if explained.any() else shares
    whole: Floats = found / found.sum().clip(min=1e-300)
    return whole


def _on_squares(xy_m: Floats, weights: Floats, side_m: float) -> tuple[Floats, Floats]:
    """The mean position and the weight of the points on each square, the heaviest first."""
    means_m, (total,) = on_squares(xy_m, square_numbers(xy_m, side_m), weights[np.newaxis])
    order = np.argsort(-total, kind="stable")
    return means_m[order], total[order]
