"""cos(∇w, ∇w') and its slope, piece by piece: where no first-layer ReLU switches much is constant.

With the set D of units that are on, h_1 = D(W_1 x + b_1), and everything up to the second layer is
linear in x: z_2 = A x + c with A = W_2 D W_1 and c = W_2 D b_1 + b_2. With s = f(z_2),
δ_2 = w_3 s', δ_1 = D W_2ᵀ δ_2 and a leaked gradient of blocks (G_l, g_l),

    ⟨G, J(x)⟩ = G_3·s + g_3 + δ_2·u,  u = (G_2 D W_1 + W_2 D G_1) x + G_2 D b_1 + g_2 + W_2 D g_1,
    |J(x)|²   = |s|² + 1 + |δ_2|²(|h_1|² + 1) + |δ_1|²(|x|² + 1).

A unit that switches adds its share to A, c and u or removes it, without any matrix product. Per
place two products of a vector with the active columns of W_2 remain.
"""

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.tangent import Blocks
from veilmap.model.network import ACTIVATION_NAMES, ActivationName

Array = NDArray[np.floating]

# Every switch rounds; after a thousand, sums in single precision are still accurate to 1e-5.
MOST_SWITCHES = 1000


def _sigmoid(z: Array) -> tuple[Array, Array, Array]:
    s = 1 / (1 + np.exp(-z))
    slope = s * (1 - s)
    return s, slope, slope * (1 - 2 * s)


def _tanh(z: Array) -> tuple[Array, Array, Array]:
    s = np.tanh(z)
    slope = 1 - s * s
    return s, slope, -2 * s * slope


def _relu(z: Array) -> tuple[Array, Array, Array]:
    s = np.maximum(z, 0)
    return s, (s > 0).astype(z.dtype), np.zeros_like(z)


def _elu(z: Array) -> tuple[Array, Array, Array]:
    slope = np.exp(np.minimum(z, 0))
    return np.where(z > 0, z, slope - 1), slope, np.where(z > 0, 0, slope)


# The activation and its first two derivatives.
_BENDS: dict[ActivationName, Callable[[Array], tuple[Array, Array, Array]]] = {
    "relu": _relu,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "elu": _elu,
}


class Pieces(NamedTuple):
    """One update's weights and leaked gradient, laid out by units of the first layer.

    Compiled loops take it as it is, hence numbers and arrays alone.

    Attributes:
        activation: of the second layer, by its place in ``ACTIVATION_NAMES``.
        first: (W_1, b_1)ᵀ, a column per unit.
        first_leaked: (G_1, g_1)ᵀ.
        columns: W_2ᵀ, a row per unit.
        columns_leaked: G_2ᵀ.
        common: (A, c)ᵀ, and beside it the same of u, with all units off: (3, 2n).
        last: w_3.
        last_leaked: G_3.
        biases: b_3 and g_3.
    """

    activation: int
    first: Array
    first_leaked: Array
    columns: Array
    columns_leaked: Array
    common: Array
    last: Array
    last_leaked: Array
    biases: Array

    @classmethod
    def of(cls, matching: Matching, update: int) -> "Pieces":
        """In the precision of ``matching``."""
        first, columns, common, last, bias = _by_unit(matching.weights, update)
        first_leaked, columns_leaked, common_leaked, last_leaked, bias_leaked = _by_unit(
            matching.gradient, update
        )
        return cls(
            activation=ACTIVATION_NAMES.index(matching.network.activations[1]),
            first=first,
            first_leaked=first_leaked,
            columns=columns,
            columns_leaked=columns_leaked,
            common=np.hstack([common, common_leaked]),
            last=last,
            last_leaked=last_leaked,
            biases=np.hstack([bias, bias_leaked]),
        )

    def share(self, unit: int) -> Array:
        """Of a unit that is on, in (A, c)ᵀ and the same of u."""
        column, leaked = self.columns[unit], self.columns_leaked[unit]
        share = np.outer(self.first[:, unit], np.hstack([column, leaked]))
        share[:, len(column) :] += np.outer(self.first_leaked[:, unit], column)
        return share


def _by_unit(blocks: Blocks, update: int) -> tuple[Array, Array, Array, Array, Array]:
    """(W_1, b_1)ᵀ, W_2ᵀ, (0, b_2)ᵀ, w_3 and b_3 of one update."""
    row = update if len(blocks[0]) > 1 else 0  # weights may be shared
    w1, b1, w2, b2, w3, b3 = (block[row].numpy() for block in blocks)
    common = np.outer([0, 0, 1], b2).astype(b2.dtype)
    return np.vstack([w1.T, b1]), np.ascontiguousarray(w2.T), common, w3[0], b3


class Region:
    """The linear piece around a moving location, and what is constant there.

    ``CompiledRegion`` does the same in about half the time.
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, self._width = pieces, len(pieces.last)
        self._bend = _BENDS[ACTIVATION_NAMES[pieces.activation]]
        self._bias, self._bias_leaked = pieces.biases.tolist()
        self._point = np.ones(3, pieces.last.dtype)
        self._factors = np.empty(2 * self._width, pieces.last.dtype)
        # The columns of W_2 that are on, in any order, each with the unit that it is of.
        self._columns = np.empty_like(pieces.columns)
        self._units: list[int] = []
        self._empty()

    def slope(self, x: float, y: float, label: float) -> tuple[float, float, float]:
        """cos(∇w, ∇w') at the place (x, y), and its derivatives in x and in y."""
        pieces, point, width = self._pieces, self._point, self._width
        point[0], point[1] = x, y
        first = point @ pieces.first
        self._enter(first > 0)
        first = np.maximum(first, 0)
        lines, columns = point @ self._lines, self._columns[: len(self._units)]
        s, slope, bend = self._bend(lines[:width])
        delta_2 = np.multiply(pieces.last, slope, out=self._factors[width:])
        delta_1 = columns @ delta_2

        size, size_1 = 1 + x * x + y * y, 1 + float(first @ first)
        square_1, square_2 = float(delta_1 @ delta_1), float(delta_2 @ delta_2)
        squared_norm = 1 + float(s @ s) + square_2 * size_1 + square_1 * size
        inner = float(pieces.last_leaked @ s + delta_2 @ lines[width:]) + self._bias_leaked
        above = float(pieces.last @ s) + self._bias - label
        scale = ((above > 0) - (above < 0)) / sqrt(squared_norm)

        # d cos = (d⟨G, J⟩ − share · d|J|²/2) / |J|; first by z_2, then by x.
        share = inner / squared_norm
        pull = lines[width:] - share * (size_1 * delta_2 + size * (delta_1 @ columns))
        pull *= pieces.last * bend
        np.add(pull, slope * (pieces.last_leaked - share * s), out=self._factors[:width])
        rise = self._lines[:2] @ self._factors - (share * square_2) * (pieces.first[:2] @ first)
        rise_x, rise_y = rise.tolist()
        outward = share * square_1
        return scale * inner, scale * (rise_x - outward * x), scale * (rise_y - outward * y)

    def _empty(self) -> None:
        """All units off."""
        self._lines, self._switches = self._pieces.common.copy(), 0
        self._on = np.zeros(len(self._columns), bool)
        self._on_bytes = self._on.tobytes()
        self._units.clear()

    def _enter(self, on: NDArray[np.bool_]) -> None:
        """Update the constant terms for the units that are on."""
        on_bytes = on.tobytes()
        if on_bytes == self._on_bytes:
            return
        if self._switches > MOST_SWITCHES:
            self._empty()
        for unit in (on ^ self._on).nonzero()[0].tolist():
            self._switch(unit, bool(on[unit]))
        self._on, self._on_bytes = on, on_bytes

    def _switch(self, unit: int, on: bool) -> None:
        self._switches += 1
        if on:
            self._lines += self._pieces.share(unit)
            self._columns[len(self._units)] = self._pieces.columns[unit]
            self._units.append(unit)
        else:
            self._lines -= self._pieces.share(unit)
            row, last = self._units.index(unit), self._units.pop()
            if last != unit:
                self._columns[row], self._units[row] = self._pieces.columns[last], last
