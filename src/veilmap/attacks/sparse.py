"""Least squares in Gram form with few terms: min cᵀKc − 2cᵀb + 2λ Σ|c|, with or without a sign.

scipy.optimize.nnls needs the design matrix; ours has 145,313 rows, and its Gram matrix is at hand.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Vector = NDArray[np.float64]

# Below this share of the largest |b| a slope counts as zero.
_FLAT = 1e-9
# Added to the diagonal, relative to its mean: neighbouring cells are nearly the same column.
_JITTER = 1e-10


def sparse_fit(
    gram: NDArray[np.float64],
    b: Vector,
    penalty: float = 0.0,
    *,
    signed: bool = False,
    start: Vector | None = None,
) -> Vector:
    """The minimiser, by Lawson and Hanson's active set with a sign per column.

    Args:
        gram: K, positive semidefinite.
        b: the products of the columns with what is to be explained.
        penalty: λ.
        signed: allow negative coefficients; they need a penalty above 0 to stay few.
        start: the solution of a problem nearby.
    """
    fit = _Fit(gram, b, penalty, np.zeros_like(b) if start is None else start.copy())
    flat = _FLAT * np.abs(b).max(initial=0.0)
    fit.settle()
    for _ in range(3 * len(b)):
        slope = fit.slope()
        gain = (np.abs(slope) if signed else slope) - penalty
        gain[fit.active] = -np.inf
        entering = int(gain.argmax())
        if gain[entering] <= flat:
            break
        fit.enter(entering, float(np.sign(slope[entering])))
        fit.settle()
    return fit.c


class _Fit:
    """The coefficients, and which columns are active with which sign."""

    def __init__(self, gram: NDArray[np.float64], b: Vector, penalty: float, c: Vector) -> None:
        self.c = c
        self._gram, self._b, self._penalty = gram, b, penalty
        self._signs = np.sign(c)
        self._jitter = _JITTER * float(np.trace(gram)) / max(len(b), 1)

    @property
    def active(self) -> NDArray[np.bool_]:
        active: NDArray[np.bool_] = self._signs != 0
        return active

    def slope(self) -> Vector:
        """Half of the way downhill, b − Kc."""
        columns = np.flatnonzero(self.active)
        slope: Vector = self._b - self._gram[:, columns] @ self.c[columns]
        return slope

    def enter(self, column: int, sign: float) -> None:
        self._signs[column] = sign

    def settle(self) -> None:
        """Solve for the active columns; drop those that would change their sign on the way."""
        while self.active.any():
            columns = np.flatnonzero(self.active)
            signs, old = self._signs[columns], self.c[columns]
            new = self._solve(columns)
            wrong = new * signs <= 0
            if not wrong.any():
                self.c[columns] = new
                return
            share = np.min(old[wrong] / (old[wrong] - new[wrong] + 1e-300 * signs[wrong]))
            kept = old + share * (new - old)
            out = wrong & (np.abs(kept) <= 1e-12 * np.abs(new).max())
            if not out.any():
                out[np.flatnonzero(wrong)[np.abs(kept[wrong]).argmin()]] = True
            kept[out] = 0.0
            self.c[columns] = kept
            self._signs[columns[out]] = 0.0

    def _solve(self, columns: NDArray[np.intp]) -> Vector:
        block = self._gram[np.ix_(columns, columns)]
        block.flat[:: len(columns) + 1] += self._jitter
        right = self._b[columns] - self._penalty * self._signs[columns]
        try:
            solved: Vector = cho_solve(
                cho_factor(block, lower=True, check_finite=False), right, check_finite=False
            )
        except LinAlgError:
            solved = np.asarray(np.linalg.lstsq(block, right, rcond=None)[0], np.float64)
        return solved
