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
import torch
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


class LayersByUnit(NamedTuple):
    """The blocks of one update, laid out by units of the first layer."""

    first: Array  # (W_1, b_1)ᵀ, a column per unit
    columns: Array  # W_2ᵀ, a row per unit
    second_bias: Array  # b_2
    last: Array  # w_3
    last_bias: Array  # b_3

    @classmethod
    def of(cls, blocks: Blocks, update: int) -> "LayersByUnit":
        """In the precision of the blocks."""
        row = update if len(blocks[0]) > 1 else 0  # weights may be shared
        w1, b1, w2, b2, w3, b3 = (block[row].numpy() for block in blocks)
        # By torch, whose memory is aligned to cache lines; numpy's may not be: a fifth slower.
        columns = torch.from_numpy(w2).T.contiguous().numpy()
        return cls(np.vstack([w1.T, b1]), columns, b2, w3[0], b3)


class Pieces(NamedTuple):
    """One update's weights and leaked gradient; compiled loops take it as it is.

    Attributes:
        activation: of the second layer, by its place in ``ACTIVATION_NAMES``.
        weights: W_l and b_l.
        leaked: G_l and g_l.
        common: (A, c)ᵀ, and beside it the same of u, with all units off: (3, 2n).
    """

    activation: int
    weights: LayersByUnit
    leaked: LayersByUnit
    common: Array

    @classmethod
    def of(cls, matching: Matching, update: int) -> "Pieces":
        """In the precision of ``matching``."""
        activation = ACTIVATION_NAMES.index(matching.network.activations[1])
        weights = LayersByUnit.of(matching.weights, update)
        leaked = LayersByUnit.of(matching.gradient, update)
        biases = np.hstack([weights.second_bias, leaked.second_bias])
        return cls(activation, weights, leaked, np.outer([0, 0, 1], biases).astype(biases.dtype))

    def share(self, unit: int) -> Array:
        """Of a unit that is on, in (A, c)ᵀ and the same of u."""
        column, leaked = self.weights.columns[unit], self.leaked.columns[unit]
        share = np.outer(self.weights.first[:, unit], np.hstack([column, leaked]))
        share[:, len(column) :] += np.outer(self.leaked.first[:, unit], column)
        return share


class Region:
    """The linear piece around a moving location, and what is constant there.

    ``CompiledRegion`` does the same in about half the time.
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, self._width = pieces, pieces.weights.columns.shape[1]
        self._bend = _BENDS[ACTIVATION_NAMES[pieces.activation]]
        self._point = np.ones(3, pieces.common.dtype)
        self._factors = np.empty(2 * self._width, pieces.common.dtype)
        # The columns of W_2 that are on, in any order, each with the unit that it is of.
        self._columns = np.empty_like(pieces.weights.columns)
        self._units: list[int] = []
        self._empty()

    def slope(self, x: float, y: float, label: float) -> tuple[float, float, float]:
        """cos(∇w, ∇w') at the place (x, y), and its derivatives in x and in y."""
        weights, leaked = self._pieces.weights, self._pieces.leaked
        point, width = self._point, self._width
        point[0], point[1] = x, y
        first = point @ weights.first
        self._enter(first > 0)
        first = np.maximum(first, 0)
        lines, columns = point @ self._lines, self._columns[: len(self._units)]
        s, slope, bend = self._bend(lines[:width])
        delta_2 = np.multiply(weights.last, slope, out=self._factors[width:])
        delta_1 = columns @ delta_2

        size, size_1 = 1 + x * x + y * y, 1 + float(first @ first)
        square_1, square_2 = float(delta_1 @ delta_1), float(delta_2 @ delta_2)
        squared_norm = 1 + float(s @ s) + square_2 * size_1 + square_1 * size
        inner = float(leaked.last @ s + delta_2 @ lines[width:]) + float(leaked.last_bias[0])
        above = float(weights.last @ s) + float(weights.last_bias[0]) - label
        scale = ((above > 0) - (above < 0)) / sqrt(squared_norm)

        # d cos = (d⟨G, J⟩ − share · d|J|²/2) / |J|; first by z_2, then by x.
        share = inner / squared_norm
        pull = lines[width:] - share * (size_1 * delta_2 + size * (delta_1 @ columns))
        pull *= weights.last * bend
        np.add(pull, slope * (leaked.last - share * s), out=self._factors[:width])
        rise = self._lines[:2] @ self._factors - (share * square_2) * (weights.first[:2] @ first)
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
            self._columns[len(self._units)] = self._pieces.weights.columns[unit]
            self._units.append(unit)
        else:
            self._lines -= self._pieces.share(unit)
            row, last = self._units.index(unit), self._units.pop()
            if last != unit:
                self._columns[row], self._units[row] = self._pieces.weights.columns[last], last
