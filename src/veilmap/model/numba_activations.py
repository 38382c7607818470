"""Activation functions in compiled loops, and their derivatives read off their own output.

All rest on e^x − 1, since numba has no exponential of several numbers at a time.
"""

from functools import partial
from typing import Any

import numpy as np

from veilmap.model.compiling import AS_WRITTEN, compiled
from veilmap.model.network import ActivationName, Floats

RELU, SIGMOID, TANH, ELU = range(4)
KINDS: dict[ActivationName, int] = {"relu": RELU, "sigmoid": SIGMOID, "tanh": TANH, "elu": ELU}

_as_written = partial(compiled, rounding=AS_WRITTEN)

_ZERO, _ONE, _TWO = np.float32(0), np.float32(1), np.float32(2)
# Beyond these neither e^x nor its inverse is a normal number; no activation changes there.
_LEAST, _MOST = np.float32(-87), np.float32(87)
# 1.5 · 2^23: what is added to it is rounded to a whole number, which its lowest bits then hold.
_ROUNDING = np.float32(12582912)
_EXPONENT, _BIAS = np.int32(23), np.int32(127)  # of a float: its place and its offset
_LOG2_E = np.float32(1.4426950408889634)
# ln 2 in two parts, the first with so few digits that its multiples are exact.
_LN_2, _LN_2_REST = np.float32(0.693359375), np.float32(-2.1219444e-4)
# (e^r − 1 − r) / r² for |r| ≤ ln 2 / 2, from Cephes' expf.
_P0, _P1, _P2 = np.float32(0.50000001201), np.float32(0.16666665459), np.float32(0.041665795894)
_P3, _P4 = np.float32(8.3334519073e-3), np.float32(1.3981999507e-3)
_P5 = np.float32(1.9875691500e-4)


@_as_written
def _expm1(x: Any) -> Any:
    """e^x − 1 = 2^n (e^r − 1) + 2^n − 1 with x = n ln 2 + r; to 2 units in the last place."""
    # Two comparisons that are false of NaN, so that it comes out again.
    x = _LEAST if x < _LEAST else x
    x = _MOST if x > _MOST else x
    rounded = np.float32(x * _LOG2_E + _ROUNDING)
    n = rounded - _ROUNDING
    r = x - n * _LN_2 - n * _LN_2_REST
    p = ((((_P5 * r + _P4) * r + _P3) * r + _P2) * r + _P1) * r + _P0
    bits = (np.float32(rounded).view(np.int32) + _BIAS) << _EXPONENT
    power = np.int32(bits).view(np.float32)
    return (p * (r * r) + r) * power + (power - _ONE)


@_as_written
def bend(kind: int, z: Floats) -> None:
    """Overwrite z with f(z)."""
    if kind == SIGMOID:
        for k in range(len(z)):
            z[k] = _ONE / (_TWO + _expm1(-z[k]))
    elif kind == TANH:
        for k in range(len(z)):
            power = _expm1(_TWO * z[k])
            z[k] = power / (power + _TWO)
    elif kind == RELU:
        for k in range(len(z)):
            z[k] = _ZERO if z[k] < _ZERO else z[k]
    else:
        for k in range(len(z)):
            below = _expm1(z[k])
            z[k] = z[k] if z[k] > _ZERO else below


@_as_written
def pull_back(kind: int, h: Floats, error: Floats) -> None:
    """Multiply the error by f'(z), where h = f(z)."""
    if kind == SIGMOID:
        for k in range(len(h)):
            error[k] *= h[k] * (_ONE - h[k])
    elif kind == TANH:
        for k in range(len(h)):
            error[k] *= _ONE - h[k] * h[k]
    elif kind == RELU:
        for k in range(len(h)):
            error[k] = error[k] if h[k] > _ZERO else _ZERO
    else:
        for k in range(len(h)):
            error[k] *= _ONE if h[k] > _ZERO else h[k] + _ONE
