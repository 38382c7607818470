"""``regions`` compiled; requires numba.

Loops replace numpy's calls, whose overhead here exceeds their work. Active units are processed four
at a time, so that what they share is read once.
"""

from math import factorial, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.gradient_matching.regions import MOST_SWITCHES, Pieces
from veilmap.model.compiling import compiled
from veilmap.model.numba_activations import RELU, SIGMOID, TANH

Array = NDArray[np.floating]

# Coefficients of e^r for |r| ≤ ln 2 / 2; the remainder is below the precision of a double.
_SERIES = tuple(1 / factorial(k) for k in range(14))


class Moving(NamedTuple):
    """The linear piece around the place evaluated last, and working memory."""

    lines: Array  # (A, c)ᵀ, and beside it the same of u
    on: NDArray[np.bool_]
    switches: NDArray[np.int64]  # how many since all units were off
    units: NDArray[np.int64]  # the numbers of those that are on
    hidden: Array  # h_1
    s: Array  # f(z_2),
    slope: Array  # f'(z_2),
    bend: Array  # and f''(z_2)
    delta_2: Array
    leaked: Array  # u
    pulled: Array  # W_2 D δ_1

    @classmethod
    def begin(cls, pieces: Pieces) -> "Moving":
        """All units off."""
        (units, width), dtype = pieces.weights.columns.shape, pieces.weights.columns.dtype
        numbers = np.zeros(1, np.int64), np.zeros(units + 1, np.int64)
        working = np.empty(units, dtype), *np.empty((6, width), dtype)
        return cls(pieces.common.copy(), np.zeros(units, bool), *numbers, *working)


@compiled
def reset_if_worn(pieces: Pieces, moving: Moving) -> None:
    """Start again from all units off after so many switches that rounding shows."""
    if moving.switches[0] > MOST_SWITCHES:
        moving.lines[:] = pieces.common
        moving.on[:] = False
        moving.switches[0] = 0


@compiled
def _exp(x: float) -> float:
    """e^x = 2^n e^r with x = n ln 2 + r, in steps that the compiler vectorises.

    Constant beyond ±700, where no activation changes.
    """
    x = -700.0 if x < -700.0 else x
    x = 700.0 if x > 700.0 else x
    n = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - n * 0.6931471805599453
    series = _SERIES[13]
    for k in range(12, -1, -1):
        series = series * r + _SERIES[k]
    power: float = np.int64((np.int64(n) + 1023) << 52).view(np.float64)
    return series * power


@compiled
def _bend(kind: int, s: Array, slope: Array, bend: Array) -> None:
    """The second layer's activation and its first two derivatives at z_2, which ``s`` holds."""
    if kind == SIGMOID:
        for j in range(len(s)):
            s[j] = 1 / (1 + _exp(-s[j]))
        for j in range(len(s)):
            slope[j] = s[j] * (1 - s[j])
            bend[j] = slope[j] * (1 - 2 * s[j])
    elif kind == TANH:
        for j in range(len(s)):
            s[j] = 1 - 2 / (1 + _exp(2 * s[j]))
        for j in range(len(s)):
            slope[j] = 1 - s[j] * s[j]
            bend[j] = -2 * s[j] * slope[j]
    else:
        for j in range(len(s)):
            on, power = s[j] > 0, 0.0 if kind == RELU else _exp(s[j])
            slope[j], bend[j] = 1.0 if on else power, 0.0 if on else power
            s[j] = s[j] if on else power - (kind != RELU)


@compiled
def _switch(pieces: Pieces, lines: Array, unit: int, sign: Any) -> None:
    """Add or subtract one unit's share of the constant terms."""
    column, leaked = pieces.weights.columns[unit], pieces.leaked.columns[unit]
    width = len(column)
    for row in range(3):
        weight = sign * pieces.weights.first[row, unit]
        weight_leaked = sign * pieces.leaked.first[row, unit]
        for j in range(width):
            lines[row, j] += weight * column[j]
            lines[row, width + j] += weight * leaked[j] + weight_leaked * column[j]


@compiled
def _enter(pieces: Pieces, moving: Moving, x: Any, y: Any) -> tuple[Any, int]:
    """Update everything but δ_1 for the place (x, y); |h_1|² + 1, and how many units are on."""
    first, lines, hidden, on = pieces.weights.first, moving.lines, moving.hidden, moving.on
    zero, one = first.dtype.type(0), first.dtype.type(1)
    size_1, count, width = one, 0, len(pieces.weights.last)
    for i in range(len(on)):
        z = first[0, i] * x + first[1, i] * y + first[2, i]
        if (z > 0) != on[i]:
            on[i] = z > 0
            _switch(pieces, lines, i, one if on[i] else -one)
            moving.switches[0] += 1
        hidden[i] = z if on[i] else zero
        moving.units[count] = i
        count += on[i]
    for i in range(len(on)):
        size_1 += hidden[i] * hidden[i]
    for j in range(width):
        moving.s[j] = lines[0, j] * x + lines[1, j] * y + lines[2, j]
        moving.leaked[j] = lines[0, width + j] * x + lines[1, width + j] * y + lines[2, width + j]
    _bend(pieces.activation, moving.s, moving.slope, moving.bend)
    for j in range(width):
        moving.delta_2[j] = pieces.weights.last[j] * moving.slope[j]
    return size_1, count


@compiled
def _products(pieces: Pieces, moving: Moving) -> tuple[Any, Any, Any, Any]:
    """|s|² + 1, |δ_2|², F(x) and ⟨G, J(x)⟩."""
    one = pieces.weights.last.dtype.type(1)
    square, square_2 = one, one - one
    signal, inner = pieces.weights.last_bias[0], pieces.leaked.last_bias[0]
    for j in range(len(pieces.weights.last)):
        s, delta_2 = moving.s[j], moving.delta_2[j]
        square += s * s
        square_2 += delta_2 * delta_2
        signal += pieces.weights.last[j] * s
        inner += pieces.leaked.last[j] * s + delta_2 * moving.leaked[j]
    return square, square_2, signal, inner


@compiled
def _four(pieces: Pieces, moving: Moving, units: Any) -> tuple[Any, Any, Any, Any]:
    """δ_1 of four units, so that δ_2 is read once for all of them."""
    a, b, c, d = units
    columns, delta_2 = pieces.weights.columns, moving.delta_2
    zero = delta_2.dtype.type(0)
    of_a, of_b, of_c, of_d = zero, zero, zero, zero
    for j in range(len(delta_2)):
        of_a += columns[a, j] * delta_2[j]
        of_b += columns[b, j] * delta_2[j]
        of_c += columns[c, j] * delta_2[j]
        of_d += columns[d, j] * delta_2[j]
    return of_a, of_b, of_c, of_d


@compiled
def _pull_back(pieces: Pieces, moving: Moving, count: int, whole: bool) -> Any:
    """|δ_1|², and W_2 D δ_1 if ``whole``."""
    columns, pulled, units = pieces.weights.columns, moving.pulled, moving.units
    zero = pulled.dtype.type(0)
    square_1 = zero
    pulled[:] = zero
    for n in range(0, count, 4):
        # The last group may have fewer than four: the last unit fills it up, with weight 0.
        a, b = units[n], units[min(n + 1, count - 1)]
        c, d = units[min(n + 2, count - 1)], units[min(n + 3, count - 1)]
        of_a, of_b, of_c, of_d = _four(pieces, moving, (a, b, c, d))
        of_b = of_b if n + 1 < count else zero
        of_c = of_c if n + 2 < count else zero
        of_d = of_d if n + 3 < count else zero
        square_1 += of_a * of_a + of_b * of_b + of_c * of_c + of_d * of_d
        if whole:
            for j in range(len(pulled)):
                pulled[j] += (of_a * columns[a, j] + of_b * columns[b, j]) + (
                    of_c * columns[c, j] + of_d * columns[d, j]
                )
    return square_1


@compiled
def slope_at(
    pieces: Pieces, moving: Moving, place: tuple[float, float], label: float
) -> tuple[float, float, float]:
    """cos(∇w, ∇w'), and its derivatives in x and in y."""
    first, last, lines = pieces.weights.first, pieces.weights.last, moving.lines
    zero, one = first.dtype.type(0), first.dtype.type(1)
    x, y = first.dtype.type(place[0]), first.dtype.type(place[1])
    size_1, count = _enter(pieces, moving, x, y)
    square, square_2, signal, inner = _products(pieces, moving)
    square_1 = _pull_back(pieces, moving, count, True)
    delta_2, pulled, width = moving.delta_2, moving.pulled, len(last)

    size = one + x * x + y * y
    squared_norm = square + square_2 * size_1 + square_1 * size
    scale = np.sign(signal - first.dtype.type(label)) / sqrt(squared_norm)
    # d cos = (d⟨G, J⟩ − share · d|J|²/2) / |J|; first by z_2, then by x.
    share = inner / squared_norm
    rise_x, rise_y = zero, zero
    for j in range(width):
        pull = moving.leaked[j] - share * (size_1 * delta_2[j] + size * pulled[j])
        pull *= last[j] * moving.bend[j]
        pull += moving.slope[j] * (pieces.leaked.last[j] - share * moving.s[j])
        rise_x += lines[0, j] * pull + lines[0, width + j] * delta_2[j]
        rise_y += lines[1, j] * pull + lines[1, width + j] * delta_2[j]
    for i in range(len(moving.hidden)):
        rise_x -= share * square_2 * first[0, i] * moving.hidden[i]
        rise_y -= share * square_2 * first[1, i] * moving.hidden[i]
    rise_x -= share * square_1 * x
    rise_y -= share * square_1 * y
    return scale * inner, scale * rise_x, scale * rise_y


@compiled
def cosine_at(pieces: Pieces, moving: Moving, x: Any, y: Any) -> Any:
    """|cos(G, J)|."""
    size_1, count = _enter(pieces, moving, x, y)
    square, square_2, _, inner = _products(pieces, moving)
    square_1 = _pull_back(pieces, moving, count, False)
    squared_norm = square + square_2 * size_1 + square_1 * (1 + x * x + y * y)
    return abs(inner) / sqrt(squared_norm)
