"""Updates as integers modulo 2⁶⁴, where masks hide them and sums are exact."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError, out_of_range, refuse
from veilmap.flower.secure.round_error import RoundError
from veilmap.wording import counted

Words = NDArray[np.uint64]

SCALE = 2.0**24
MOST_NODES = 2**16
# So that the sum over MOST_NODES nodes stays below 2⁶³, where two's complement turns negative.
LIMIT = 2.0**63 / MOST_NODES
# Far below what 64 bits hold: a larger sum of counts shows that masks are left in it.
MOST_POINTS = 2**31


def fixed_point(values: NDArray[np.float64], what: str, cause: str) -> Words:
    """Numbers in fixed point with 24 binary places; multiples of 2⁻²⁴ are exact.

    Raises:
        UserError: they are too large; ``what`` they are, and the ``cause`` to lower.
    """
    fixed = np.rint(values * SCALE)
    worst = np.max(np.abs(fixed), initial=0.0)
    if not worst < LIMIT:
        demand = f"below {LIMIT / SCALE:.0f} in every coordinate (lower {cause})"
        raise out_of_range(what, demand, float(worst / SCALE))
    return fixed.astype(np.int64).view(np.uint64)


def real_numbers(total: Words) -> NDArray[np.float64]:
    """A sum of what ``fixed_point`` gave."""
    return total.view(np.int64) / SCALE


def encode(update: NDArray[np.float32], n: int) -> Words:
    """n_k Δ_k in fixed point with 24 binary places, and n_k as the last element.

    A phone without data takes part with n = 0 and an update of zeros, so that the server does not
    learn who measured.
    """
    refuse(_faults(update, n))
    fixed = fixed_point(update.astype(np.float64) * n, "n times the update", "the learning rate")
    return np.append(fixed, np.uint64(n))


def decode(total: Words) -> tuple[NDArray[np.float64], int]:
    """(Σ n_k Δ_k / Σ n_k, Σ n_k); without any points the mean is zero.

    Fixed point costs a coordinate at most 2⁻²⁵ (3e-8), for any number of nodes: each adds at most
    half a unit of 2⁻²⁴ to the sum, and n_k ≥ 1 to the divisor; those with n = 0 add an exact zero.
    """
    n = int(total[-1])
    if n >= MOST_NODES * MOST_POINTS:
        raise RoundError(
            f"the sum claims {n} points; masks are left in it, so a node's share is wrong"
        )
    return real_numbers(total[:-1]) / max(n, 1), n


def _faults(update: NDArray[np.float32], n: int) -> Iterator[UserError]:
    if not 0 <= n < MOST_POINTS:
        yield out_of_range("the number of points", f"from 0 to {MOST_POINTS - 1}", n)
    bad = int(np.count_nonzero(~np.isfinite(update)))
    if bad:
        yield UserError(
            f"the update has {counted(bad, 'non-finite value')}; lower the learning rate"
        )
    if n == 0 and np.any(update):
        yield UserError("an update of 0 points must be all zeros; send zeros, or the true number")
