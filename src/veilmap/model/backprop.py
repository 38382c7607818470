"""Forward and backward pass over one batch, by hand, for speed.

The usual loop pays at every step of 20 rows for autograd's bookkeeping, for fresh arrays, for a
gradient buffer and for an optimiser pass over all weights. Here arrays and views are made once
per batch size, and the product that forms a layer's gradient adds it to its destination.
``reference`` says the same with autograd; a test holds the two together.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from veilmap.model.activations import ACTIVATIONS
from veilmap.model.dropout import Masks
from veilmap.model.network import Network

Layers = Sequence[tuple[Tensor, Tensor]]


class BackPropagation:
    """Layer inputs h_l and back-propagated errors δ_l for batches of a fixed number of rows.

    With the residuals r_i = F(x_i) − y_i and ℓ = (1/n) Σ r_i²: ∂ℓ/∂W_l = Σ_i δ_l,i h_l,iᵀ and
    ∂ℓ/∂b_l = Σ_i δ_l,i. The values of ``layers`` may change between two passes.
    """

    def __init__(self, network: Network, layers: Layers, rows: int) -> None:
        self._hidden = [_HiddenLayer(network, layers, level, rows) for level in _levels(network)]
        matrix, self._last_bias = layers[-1]
        self._last_matrix = matrix.T
        self._last = torch.empty(rows, 1)
        self._errors = [*(layer.delta.T for layer in self._hidden), self._last.T]
        self._ones = torch.ones(rows)

    def forward(self, x: Tensor, masks: Masks) -> Tensor:
        """F(x; w), a column; with ``masks`` under dropout."""
        self._inputs = [x]
        for layer, mask in zip(self._hidden, masks, strict=True):
            x = layer.forward(x, mask)
            self._inputs.append(x)
        return torch.addmm(self._last_bias, x, self._last_matrix, out=self._last)

    def backward(self, y: Tensor, masks: Masks, n: int) -> None:
        """δ_l after ``forward``, for a mean over ``n`` rows (more than these in a blocked sum)."""
        error = self._last.sub_(y).mul_(2 / n)
        for layer, mask in zip(reversed(self._hidden), reversed(masks), strict=True):
            error = layer.backward(error, mask)

    def add_gradient(self, into: Layers, factor: float) -> None:
        """``into += factor · ∂ℓ/∂w``; into the weights with −η this is the SGD step itself."""
        for (matrix, bias), h, error in zip(into, self._inputs, self._errors, strict=True):
            matrix.addmm_(error, h, alpha=factor)
            bias.addmv_(error, self._ones, alpha=factor)


class _HiddenLayer:
    """One hidden layer's share of both passes, with the arrays it writes."""

    def __init__(self, network: Network, layers: Layers, level: int, rows: int) -> None:
        matrix, self._bias = layers[level]
        self._matrix, self._next_matrix = matrix.T, layers[level + 1][0]
        self._activation = ACTIVATIONS[network.activations[level]]
        width = network.hidden[level]
        self._h, self._kept, self.delta = (torch.empty(rows, width) for _ in range(3))

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        torch.addmm(self._bias, x, self._matrix, out=self._h)
        self._activation.apply_(self._h)
        return self._h if mask is None else torch.mul(self._h, mask, out=self._kept)

    def backward(self, error: Tensor, mask: Tensor | None) -> Tensor:
        torch.mm(error, self._next_matrix, out=self.delta)
        if mask is not None:
            self.delta.mul_(mask)
        return self._activation.pull_back_(self.delta, self._h)


def _levels(network: Network) -> range:
    return range(len(network.hidden))
