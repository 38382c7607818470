"""F(x; w) in numpy: what a map needs of its network, on machines without torch as well."""

from collections.abc import Callable

import numpy as np

from veilmap.model.network import ActivationName, Floats, Network

# Rows per pass: large enough for BLAS, small enough that activations stay in a few megabytes.
BLOCK_ROWS = 1024


def predict(network: Network, weights: Floats, xy_std: Floats) -> Floats:
    """F(x; w) for each row, without dropout."""
    outputs = np.empty(len(xy_std), np.float32)
    # Weights that training made infinite give NaN, which callers look for.
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(xy_std), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            outputs[block] = _forward(network, weights, xy_std[block])
    return outputs


def _forward(network: Network, weights: Floats, x: Floats) -> Floats:
    *hidden, (last_matrix, last_bias) = network.layers(weights)
    for (matrix, bias), name in zip(hidden, network.activations, strict=True):
        z = x @ matrix.T
        z += bias
        x = _ACTIVATIONS[name](z)
    return (x @ last_matrix.T)[:, 0] + last_bias


def _sigmoid(z: Floats) -> Floats:
    np.negative(z, out=z)
    np.exp(z, out=z)
    z += 1
    return np.reciprocal(z, out=z)


_ACTIVATIONS: dict[ActivationName, Callable[[Floats], Floats]] = {
    "relu": lambda z: np.maximum(z, 0, out=z),
    "sigmoid": _sigmoid,
    "tanh": lambda z: np.tanh(z, out=z),
    "elu": lambda z: np.expm1(z, out=z, where=z < 0),
}
