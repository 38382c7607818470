"""Gradient and local SGD on the flat weight vector."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from veilmap.model.backprop import BackPropagation, Layers
from veilmap.model.dropout import Dropout, Dropped, of_rows
from veilmap.model.network import Floats, MiniBatch, Network

# From network, weights, mini-batches, E, η and dropout to the weights after.
Descent = Callable[[Network, Floats, Sequence[MiniBatch], int, float, Dropout | None], Floats]

# Rows per pass: large enough for BLAS, small enough that activations stay in a few megabytes.
BLOCK_ROWS = 4096


@torch.inference_mode()
def gradient(
    network: Network, weights: Floats, mini_batch: MiniBatch, dropout: Dropout | None = None
) -> Floats:
    """∇ℓ(w; b) of the mean squared error over a mini-batch b = (xy_std, labels), flat."""
    total = np.zeros_like(weights)
    step = _MiniBatchGradient(network, _layers(network, weights), dropout)
    step.add_gradient(*_tensors(mini_batch), into=_layers(network, total), factor=1.0)
    return total


@torch.inference_mode()
def bias_gradients(network: Network, weights: Floats, mini_batch: MiniBatch) -> Floats:
    """g_i = ∂ℓ_i/∂b¹_h of each point's own loss, (points, units of the first layer), no dropout.

    It is δ_1 of one back-propagation with ℓ_i = r_i² in place of the mean, so no point's gradient
    over all weights is formed.
    """
    layers, nothing = _layers(network, weights), [None] * len(network.hidden)
    x, y = _tensors(mini_batch)
    g = np.empty((len(y), network.hidden[0]), np.float32)
    for block in _blocks(len(y)):
        both = BackPropagation(network, layers, len(y[block]))
        both.forward(x[block], nothing)
        both.backward(y[block], n=1)
        g[block] = both.first_errors.numpy()
    return g


def sgd(
    network: Network,
    weights: Floats,
    mini_batches: Sequence[MiniBatch],
    *,
    epochs: int,
    learning_rate: float,
    dropout: Dropout | None = None,
) -> Floats:
    """Algorithm 1, lines 19-21: w ← w − η∇ℓ(w; b), E times over the mini-batches b.

    ``dropout`` says which units each step drops; None trains without dropout.
    """
    # Compiled loops keep all rows of a step at once; torch goes over large ones in blocks.
    small = all(len(labels) <= BLOCK_ROWS for _, labels in mini_batches)
    descend = (compiled_for(network) if small else None) or descend_with_torch
    return descend(network, weights, mini_batches, epochs, learning_rate, dropout)


def compiled_for(network: Network) -> Descent | None:
    """Compiled SGD, where numba is there and the network has two hidden layers, the first ReLU.

    Loading numba takes half a second, which only training should pay.
    """
    if not network.is_piecewise:
        return None
    try:
        from veilmap.model.compiled import descend
    except ImportError:  # not installed, or not for this numpy
        return None
    return descend


@torch.inference_mode()
def descend_with_torch(
    network: Network,
    weights: Floats,
    mini_batches: Sequence[MiniBatch],
    epochs: int,
    learning_rate: float,
    dropout: Dropout | None,
) -> Floats:
    """``sgd`` of any network."""
    # Through torch, whose memory is aligned to cache lines; numpy's is not, and that costs 7 %.
    weights = torch.from_numpy(weights).clone().numpy()
    layers = _layers(network, weights)
    step = _MiniBatchGradient(network, layers, dropout)
    batches = [_tensors(mini_batch) for mini_batch in mini_batches]
    for _ in range(epochs):
        for x, y in batches:
            if len(y) <= BLOCK_ROWS:
                step.add_gradient(x, y, into=layers, factor=-learning_rate)
            else:  # the blocks of one step must all see the weights before it
                total = np.zeros_like(weights)
                step.add_gradient(x, y, into=_layers(network, total), factor=-learning_rate)
                weights += total
    return weights


class _MiniBatchGradient:
    """The gradient of one mini-batch after another at ``layers``, whose values may change."""

    def __init__(self, network: Network, layers: Layers, dropout: Dropout | None) -> None:
        self._network, self._layers, self._dropout = network, layers, dropout
        self._nothing = [None] * len(network.hidden)
        self._passes: dict[int, BackPropagation] = {}

    def add_gradient(self, x: Tensor, y: Tensor, *, into: Layers, factor: float) -> None:
        dropped = self._dropout.draw(len(y)) if self._dropout else self._nothing
        if len(y) <= BLOCK_ROWS:
            self._add(x, y, dropped, len(y), into, factor)
            return
        for block in _blocks(len(y)):
            part = of_rows(dropped, self._network.hidden, block)
            self._add(x[block], y[block], part, len(y), into, factor)

    def _add(
        self, x: Tensor, y: Tensor, dropped: Dropped, n: int, into: Layers, factor: float
    ) -> None:
        if len(y) not in self._passes:
            self._passes[len(y)] = BackPropagation(self._network, self._layers, len(y))
        both = self._passes[len(y)]
        both.forward(x, dropped)
        both.backward(y, n)
        both.add_gradient(into, factor)


def _tensors(mini_batch: MiniBatch) -> tuple[Tensor, Tensor]:
    xy_std, labels = mini_batch
    return torch.from_numpy(xy_std), torch.from_numpy(labels)[:, None]


def _layers(network: Network, weights: Floats) -> Layers:
    return [(torch.from_numpy(w), torch.from_numpy(b)) for w, b in network.layers(weights)]


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(i, min(i + BLOCK_ROWS, rows)) for i in range(0, rows, BLOCK_ROWS))
