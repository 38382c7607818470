"""What ``regions`` does, compiled; for those who have numba.

Loops replace numpy's calls, each of which takes longer to begin than to do its work here, and δ_1
and W_2 D δ_1 are formed in one pass over the columns of W_2.
"""

from math import exp, sqrt, tanh
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.regions import MOST_SWITCHES, Pieces
from veilmap.model.compiling import compiled
from veilmap.model.network import ActivationName

Array = NDArray[np.floating]

_RELU, _SIGMOID, _TANH, _ELU = range(4)
# The second layer's activation, as loops can tell it.
_KINDS: dict[ActivationName, int] = {
    "relu": _RELU,
    "sigmoid": _SIGMOID,
    "tanh": _TANH,
    "elu": _ELU,
}


@compiled
def _bend(kind: int, z: Any, one: Any) -> Any:
    """The second layer's activation and its first two derivatives at z."""
    if kind == _SIGMOID:
        s = one / (one + exp(-z))
        slope = s * (one - s)
        return s, slope, slope * (one - s - s)
    if kind == _TANH:
        s = tanh(z)
        slope = one - s * s
        return s, slope, -(s + s) * slope
    if z > 0:
        return z, one, one - one
    if kind == _RELU:
        return one - one, one - one, one - one
    slope = exp(z)
    return slope - one, slope, slope


@compiled
def _switch(lines: Array, shares: Array, sign: Any) -> None:
    """One unit's share in what is constant, added or taken away."""
    for row in range(lines.shape[0]):
        for j in range(lines.shape[1]):
            lines[row, j] += sign * shares[row, j]


@compiled
def _slope_at(
    kind: int,
    first: Array,
    columns: Array,
    shares: Array,
    last: Array,
    last_leaked: Array,
    biases: Array,
    lines: Array,
    on: NDArray[np.bool_],
    hidden: Array,
    scratch: Array,
    place: tuple[float, float],
    label: float,
) -> tuple[float, float, float, int]:
    """cos(∇w, ∇w'), its derivatives in x and in y, and how many units have switched.

    ``lines`` and ``on`` are brought up to date; ``hidden`` and ``scratch`` are only room.
    """
    zero, one = first.dtype.type(0), first.dtype.type(1)
    x, y = first.dtype.type(place[0]), first.dtype.type(place[1])
    s, slope, bend = scratch[0], scratch[1], scratch[2]
    delta_2, pulled, leaked = scratch[3], scratch[4], scratch[5]
    units, width = columns.shape

    size_1, switches = one, 0
    for i in range(units):
        z = first[0, i] * x + first[1, i] * y + first[2, i]
        if (z > 0) != on[i]:
            on[i] = z > 0
            _switch(lines, shares[i], one if on[i] else -one)
            switches += 1
        hidden[i] = z if on[i] else zero
    for i in range(units):
        size_1 += hidden[i] * hidden[i]

    for j in range(width):
        s[j] = lines[0, j] * x + lines[1, j] * y + lines[2, j]
        leaked[j] = lines[0, width + j] * x + lines[1, width + j] * y + lines[2, width + j]
        pulled[j] = zero
    for j in range(width):
        s[j], slope[j], bend[j] = _bend(kind, s[j], one)
    square, square_1, square_2 = one, zero, zero
    signal, inner = biases[0], biases[1]
    for j in range(width):
        delta_2[j] = last[j] * slope[j]
        square += s[j] * s[j]
        square_2 += delta_2[j] * delta_2[j]
        signal += last[j] * s[j]
        inner += last_leaked[j] * s[j] + delta_2[j] * leaked[j]
    for i in range(units):
        if on[i]:
            delta_1 = zero
            for j in range(width):
                delta_1 += columns[i, j] * delta_2[j]
            square_1 += delta_1 * delta_1
            for j in range(width):
                pulled[j] += delta_1 * columns[i, j]

    size = one + x * x + y * y
    squared_norm = square + square_2 * size_1 + square_1 * size
    scale = np.sign(signal - first.dtype.type(label)) / sqrt(squared_norm)
    # d cos = (d⟨G, J⟩ − share · d|J|²/2) / |J|; first by z_2, then by x.
    share = inner / squared_norm
    rise_x, rise_y = zero, zero
    for j in range(width):
        pull = leaked[j] - share * (size_1 * delta_2[j] + size * pulled[j])
        pull = pull * last[j] * bend[j] + slope[j] * (last_leaked[j] - share * s[j])
        rise_x += lines[0, j] * pull + lines[0, width + j] * delta_2[j]
        rise_y += lines[1, j] * pull + lines[1, width + j] * delta_2[j]
    for i in range(units):
        rise_x -= share * square_2 * first[0, i] * hidden[i]
        rise_y -= share * square_2 * first[1, i] * hidden[i]
    rise_x -= share * square_1 * x
    rise_y -= share * square_1 * y
    return scale * inner, scale * rise_x, scale * rise_y, switches


class CompiledRegion:
    """The piece in which a moving location is, and what is constant there."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, dtype = pieces, pieces.last.dtype
        self._constant = (
            _KINDS[pieces.activation],
            pieces.first,
            pieces.columns,
            pieces.shares,
            pieces.last,
            pieces.last_leaked,
            np.array([pieces.last_bias, pieces.last_bias_leaked], dtype),
        )
        self._on = np.zeros(len(pieces.columns), bool)
        self._room = np.empty(len(pieces.columns), dtype), np.empty((6, len(pieces.last)), dtype)
        self._empty()

    def slope(self, x: float, y: float, label: float) -> tuple[float, float, float]:
        """cos(∇w, ∇w') at the place (x, y), and its derivatives in x and in y."""
        if self._switches > MOST_SWITCHES:
            self._empty()
        cosine, rise_x, rise_y, switches = _slope_at(
            *self._constant, self._lines, self._on, *self._room, (x, y), label
        )
        self._switches += switches
        return cosine, rise_x, rise_y

    def _empty(self) -> None:
        """All units off."""
        self._lines, self._switches = self._pieces.common.copy(), 0
        self._on[:] = False
