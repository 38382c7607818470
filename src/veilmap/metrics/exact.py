"""The exact earth mover's distance, for small sets: what the sliced one stays below."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

from veilmap.errors import UserError, refuse
from veilmap.metrics.weighted_points import (
    Points,
    Weights,
    as_arrays,
    heap_faults,
    on_shared_positions,
)

MOST_PAIRS = 250_000  # 500 x 500 take 2 seconds, 20 x 12,500 half a minute
_WAY_OUT = "take the sliced one, metrics.transport.emd_m"
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def exact_emd_m(
    a_xy_m: Points,
    b_xy_m: Points,
    a_weights: Weights | None = None,
    b_weights: Weights | None = None,
) -> float:
    """1-Wasserstein distance in metres: the mean way of the cheapest plan that moves a onto b.

    Weight that both sets have at a position stays there; no plan is cheaper for moving it.

    Raises:
        UserError: the sets have more than ``MOST_PAIRS`` pairs of positions, or the solver failed.
    """
    sets, weights = as_arrays((a_xy_m, b_xy_m), (a_weights, b_weights))
    refuse(heap_faults(sets, weights))
    xy_m, (a, b) = on_shared_positions(sets, weights)
    surplus = a / a.sum() - b / b.sum()
    giving, taking = surplus > 0, surplus < 0
    # Rounding alone may leave a crumb on one side only.
    if not (giving.any() and taking.any()):
        return 0.0
    _refuse_too_many(int(giving.sum()), int(taking.sum()))
    ways_m = np.hypot(*(xy_m[giving][:, np.newaxis] - xy_m[taking]).T).T
    return float(surplus[giving].sum() * _mean_way_m(ways_m, surplus[giving], -surplus[taking]))


def _mean_way_m(ways_m: NDArray[np.float64], supply: Weights, demand: Weights) -> float:
    """The cheapest plan: what goes from i to j, at least 0, sums to all supply and demand."""
    n, m = ways_m.shape
    leaving = kron(eye_array(n), np.ones((1, m)))
    arriving = kron(np.ones((1, n)), eye_array(m))
    rows = vstack([leaving, arriving], format="csr")
    # The tolerances are absolute, so the weights are made about 1.
    sums = np.concatenate([supply / supply.sum(), demand / demand.sum()]) * (n + m)
    # One sum follows from the others. Left in, rounding may contradict it, and no plan is found.
    free = np.arange(n + m) != np.argmax(sums)
    plan = linprog(ways_m.ravel(), A_eq=rows[free], b_eq=sums[free], options=_TOLERANCES)
    if not plan.success:
        raise UserError(f"no exact EMD was found ({plan.message}); {_WAY_OUT}")
    return float(plan.fun / (n + m))


def _refuse_too_many(giving: int, taking: int) -> None:
    if giving * taking > MOST_PAIRS:
        raise UserError(
            f"the exact EMD takes at most {MOST_PAIRS:,} pairs of positions, got {giving:,} x "
            f"{taking:,} = {giving * taking:,}; {_WAY_OUT}"
        )
