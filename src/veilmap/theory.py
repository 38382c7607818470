"""Lemma 1 and Theorems 1 and 2 of the paper, for each unit of the first layer.

``g`` is g_i(w) = ∂ℓ_i/∂b¹_h, one row per point and one column per unit h of the first layer, as
``model.training.bias_gradients`` computes it. Under FedAvg it is the average of these along the
local steps (insight I3), so every function takes ``g`` as it is. Results have one entry per unit;
it is NaN where ḡ = 0, the case that Assumption 2 leaves out.

The bounds add squares of g, of positions and of labels, which have different units: they are
meaningful only in the standardised scale of the network.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.local_data import Scaler
from veilmap.model.network import Floats, MiniBatch, Network

# Of a batch with more pairs, a generator draws so many: all pairs of 725 points.
MOST_PAIRS = 1 << 18
PAIRS_AT_ONCE = 1 << 10

Array = NDArray[np.float64]
AnyFloats = NDArray[np.floating]


@dataclass(frozen=True)
class PredictedError:
    """The predicted distance of DLG from the centroid; medians over the units, weighted by |ḡ_h|.

    Attributes:
        error_m: ‖x_DLG − x̄‖, exactly, in metres.
        bound_1_std: the bound of Theorem 1, in standardised units.
        bound_2_std: the bound of Theorem 2, in standardised units; None if it was not computed.
        x_dlg_m: the |ḡ_h|-weighted mean of the units' x_DLG, in metres.
        units: how many units of the first layer have a finite ḡ other than 0.
    """

    error_m: float
    bound_1_std: float
    bound_2_std: float | None
    x_dlg_m: Array
    units: int


def predict_error(
    network: Network,
    weights: Floats,
    mini_batch: MiniBatch,
    scaler: Scaler,
    generator: np.random.Generator | None = None,
    *,
    theorem_2: bool = True,
) -> PredictedError | None:
    """Lemma 1 and both theorems for one gradient step on a mini-batch (xy_std, labels).

    None if no unit has a ḡ that is finite and not 0. ``generator`` is that of ``lipschitz``, which
    takes most of the time; ``theorem_2`` leaves it out.
    """
    from veilmap.model.training import bias_gradients

    g = bias_gradients(network, weights, mini_batch)
    return predict_error_of(g, mini_batch, scaler, generator, theorem_2=theorem_2)


def predict_error_of(
    g: AnyFloats,
    mini_batch: MiniBatch,
    scaler: Scaler,
    generator: np.random.Generator | None = None,
    *,
    theorem_2: bool = True,
) -> PredictedError | None:
    """The same for any ``g``, such as the time average that FedAvg shows (insight I3)."""
    xy_std, labels = mini_batch
    if not len(labels):
        return None
    weight = np.abs(_mean(g))
    known = np.isfinite(weight) & (weight > 0)
    if not known.any():
        return None
    g, weight = g[:, known], weight[known]
    bound_2_std = None
    if theorem_2:
        bounds = theorem_2_bound(xy_std, labels, g, lipschitz(xy_std, labels, g, generator))
        bound_2_std = weighted_median(bounds, weight)
    x_dlg_std = np.average(lemma_1(xy_std, g), axis=0, weights=weight)
    return PredictedError(
        # The covariance form is exact for equal points, where a difference of means rounds.
        error_m=weighted_median(theorem_1_error(scaler.metres(xy_std), g), weight),
        bound_1_std=weighted_median(theorem_1_bound(xy_std, g), weight),
        bound_2_std=bound_2_std,
        x_dlg_m=scaler.metres(x_dlg_std),
        units=len(weight),
    )


def lemma_1(xy: AnyFloats, g: AnyFloats) -> Array:
    """x_DLG = (1/B) Σ_i (g_i/ḡ) x_i, the g-weighted mean of the points: (units, 2)."""
    return _per(_mean(g)[:, None], _moments(g, xy) / len(xy))


def theorem_1_error(xy: AnyFloats, g: AnyFloats) -> Array:
    """‖x_DLG − x̄‖ = ‖Σ_i (g_i − ḡ)(x_i − x̄)‖ / (B|ḡ|), in the unit of ``xy``."""
    covariance = _moments(_centred(g), _centred(xy)) / len(xy)
    return _per(np.abs(_mean(g)), np.linalg.norm(covariance, axis=1))


def theorem_1_bound(xy_std: AnyFloats, g: AnyFloats) -> Array:
    """‖x_DLG − x̄‖ ≤ (1/(2B|ḡ|)) Σ_i ((g_i − ḡ)² + ‖x_i − x̄‖²)."""
    return _per(np.abs(_mean(g)), (_variance(g) + _variance(xy_std).sum()) / 2)


def theorem_2_bound(xy_std: AnyFloats, labels: AnyFloats, g: AnyFloats, L: AnyFloats) -> Array:
    """‖x_DLG − x̄‖ ≤ (L²/(B|ḡ|)) Σ_i (α‖x_i − x̄‖² + (y_i − ȳ)²), α = 1 + 1/(2L²).

    ``L`` is the Lipschitz constant of g, one per unit. Written with L²α = L² + ½, which also has
    the limit L = 0.
    """
    in_place, in_label = _variance(xy_std).sum(), _variance(labels)
    return _per(np.abs(_mean(g)), (L**2 + 0.5) * in_place + L**2 * in_label)


def lipschitz(
    xy_std: AnyFloats, labels: AnyFloats, g: AnyFloats, generator: np.random.Generator | None = None
) -> Array:
    """L of Assumption 3 as the batch shows it: max |g_i − g_j| / sqrt(‖x_i − x_j‖² + (y_i − y_j)²).

    One per unit. The proof of Theorem 2 compares the points of the batch only, so its bound holds
    for certain with this L, over all pairs. They cost time in B²; with a ``generator``, a batch of
    more than ``MOST_PAIRS`` pairs is judged by that many drawn ones, and L is a lower estimate.
    Pairs that are equal in position and label are left out: their g is equal, up to rounding.
    Ratios have the precision of ``g``.
    """
    points = np.column_stack([xy_std, labels]).astype(np.float64)
    steepest = np.zeros(g.shape[1])
    for first, second in point_pairs(len(points), generator):
        distance = np.linalg.norm(points[first] - points[second], axis=1)
        distance[distance == 0] = np.inf
        ratio = g[first] - g[second]
        np.abs(ratio, out=ratio)
        ratio /= distance[:, None].astype(g.dtype)
        steepest = np.maximum(steepest, ratio.max(axis=0))
    return steepest


RowIndex = slice | NDArray[np.int64]


def point_pairs(
    points: int, generator: np.random.Generator | None
) -> Iterator[tuple[RowIndex, RowIndex]]:
    """Each pair once, or ``MOST_PAIRS`` drawn ones; in blocks."""
    if generator is None or points * (points - 1) // 2 <= MOST_PAIRS:
        yield from ((slice(i, i + 1), slice(i + 1, points)) for i in range(points - 1))
        return
    for _ in range(0, MOST_PAIRS, PAIRS_AT_ONCE):
        first = generator.integers(points, size=PAIRS_AT_ONCE)
        yield first, (first + generator.integers(1, points, size=PAIRS_AT_ONCE)) % points


def _mean(values: AnyFloats) -> Array:
    mean: Array = values.mean(axis=0, dtype=np.float64)
    return mean


def _centred(values: AnyFloats) -> Array:
    return values.astype(np.float64) - _mean(values)


def _moments(g: AnyFloats, xy: AnyFloats) -> Array:
    """Σ_i g_i x_i for each unit; not by BLAS, whose last bits depend on the number of cores."""
    moments: Array = np.einsum("iu,id->ud", g.astype(np.float64), xy.astype(np.float64))
    return moments


def _variance(values: AnyFloats) -> Array:
    """Σ_i (v_i − v̄)²/B of each column."""
    return _mean(_centred(values) ** 2)


def _per(divisor: Array, values: Array) -> Array:
    """``values / divisor``, NaN where the divisor is 0."""
    return values / np.where(divisor == 0, np.nan, divisor)


def weighted_median(values: Array, weights: Array) -> float:
    """The least value at which half of the weight is reached."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
