"""Least squares in Gram form with few terms: min cᵀKc − 2cᵀb + 2λ Σ|c|, with or without a sign.

scipy.optimize.nnls needs the design matrix, which has 145,313 rows here; its Gram matrix is known.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

Vector = NDArray[np.float64]
ColumnIndices = NDArray[np.intp]

# Below this share of the largest |b| a slope counts as zero.
FLAT = 1e-9
# Added to the diagonal, relative to its mean: neighbouring squares are nearly the same column.
JITTER = 1e-10


class GramRows(Protocol):
    """The part of K that a fit reads, a few of its rows. An array conforms."""

    def __getitem__(self, columns: ColumnIndices, /) -> NDArray[np.float64]:
        """The rows of these columns; K is symmetric."""

    def diagonal(self) -> Vector:
        """K_jj."""


def sparse_fit(
    gram: GramRows,
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
        start: the solution of a similar problem.
    """
    fit = _Fit(gram, b, penalty, np.zeros_like(b) if start is None else start)
    flat = FLAT * np.abs(b).max(initial=0.0)
    fit.settle()
    for _ in range(3 * len(b)):
        slope = fit.slope()
        gain = (np.abs(slope) if signed else slope) - penalty
        gain[fit.columns] = -np.inf
        entering = int(gain.argmax())
        if gain[entering] <= flat:
            break
        fit.enter(entering, float(np.sign(slope[entering])))
        fit.settle()
    return fit.solution()


class _Fit:
    """The active columns, their coefficients, signs and rows of K."""

    def __init__(self, gram: GramRows, b: Vector, penalty: float, start: Vector) -> None:
        self.columns: ColumnIndices = np.flatnonzero(start)
        self._gram, self._b, self._penalty = gram, b, penalty
        self._c, self._signs = start[self.columns], np.sign(start[self.columns])
        self._jitter = JITTER * float(gram.diagonal().mean()) if len(b) else 0.0
        # Rows are added one by one; spare capacity saves copying the previous ones.
        self._buffer = np.empty((2 * len(self.columns) + 8, len(b)))
        self._rows[:] = gram[self.columns]

    @property
    def _rows(self) -> NDArray[np.float64]:
        return self._buffer[: len(self.columns)]

    def solution(self) -> Vector:
        c = np.zeros_like(self._b)
        c[self.columns] = self._c
        return c

    def slope(self) -> Vector:
        """Half of the negative gradient, b − Kc."""
        slope: Vector = self._b - self._c @ self._rows
        return slope

    def enter(self, column: int, sign: float) -> None:
        self.columns = np.append(self.columns, column)
        self._c, self._signs = np.append(self._c, 0.0), np.append(self._signs, sign)
        if len(self.columns) > len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._rows[-1:] = self._gram[self.columns[-1:]]

    def settle(self) -> None:
        """Solve for the active columns; drop those that would change their sign."""
        while len(self.columns):
            signs, old, new = self._signs, self._c, self._solve()
            wrong = new * signs <= 0
            if not wrong.any():
                self._c = new
                return
            share = np.min(old[wrong] / (old[wrong] - new[wrong] + 1e-300 * signs[wrong]))
            kept = old + share * (new - old)
            out = wrong & (np.abs(kept) <= 1e-12 * np.abs(new).max())
            if not out.any():
                out[np.flatnonzero(wrong)[np.abs(kept[wrong]).argmin()]] = True
            self._c = kept
            self._leave(out)

    def _leave(self, out: NDArray[np.bool_]) -> None:
        """Move the last columns into the places of dropped ones, because rows are long to copy."""
        left = len(out) - np.count_nonzero(out)
        places, last = np.flatnonzero(out[:left]), left + np.flatnonzero(~out[left:])
        order = np.arange(left)
        order[places] = last
        self._rows[places] = self._rows[last]
        self.columns, self._c, self._signs = self.columns[order], self._c[order], self._signs[order]

    def _solve(self) -> Vector:
        block = self._rows[:, self.columns]
        block.flat[:: len(block) + 1] += self._jitter
        right = self._b[self.columns] - self._penalty * self._signs
        # The block is symmetric; its transpose has LAPACK's memory layout.
        _, solved, failed = dposv(block.T, right)
        if failed:
            solved = np.linalg.lstsq(block, right, rcond=None)[0]
        result: Vector = solved
        return result
