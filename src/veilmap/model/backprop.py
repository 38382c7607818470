"""Forward and backward pass over one batch, by hand, for speed.

The usual loop pays at every step of 20 rows for autograd's bookkeeping, for fresh arrays, for a
gradient buffer and for an optimiser pass over all weights. Here arrays and views are made once
per batch size, the product that forms a layer's gradient adds it to its destination, and dropout
touches only the units that it drops (its scale rides on the products).
``reference`` says the same with autograd; a test holds the two together.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from veilmap.model.activations import ACTIVATIONS
from veilmap.model.dropout import Dropped
from veilmap.model.network import Network

Layers = Sequence[tuple[Tensor, Tensor]]


class BackPropagation:
    """Layer inputs h_l and back-propagated errors δ_l for batches of a fixed number of rows.

    With the residuals r_i = F(x_i) − y_i and ℓ = (1/n) Σ r_i²: ∂ℓ/∂W_l = s_l Σ_i δ_l,i h_l,iᵀ and
    ∂ℓ/∂b_l = Σ_i δ_l,i, where s_l scales what dropout kept of h_l. The values of ``layers`` may
    change between two passes.
    """

    def __init__(self, network: Network, layers: Layers, rows: int) -> None:
        levels = range(len(network.hidden))
        self._hidden = [_HiddenLayer(network, layers, level, rows) for level in levels]
        matrix, self._last_bias = layers[-1]
        self._last_matrix = matrix.T
        self._last = torch.empty(rows, 1)
        self._errors = [*(layer.delta.T for layer in self._hidden), self._last.T]
        self._ones = torch.ones(rows)

    def forward(self, x: Tensor, dropped: Dropped) -> Tensor:
        """F(x; w), a column, without the units in ``dropped``."""
        self._inputs, self._scales = [x], [1.0]
        for layer, units in zip(self._hidden, dropped, strict=True):
            self._inputs.append(layer.forward(self._inputs[-1], self._scales[-1], units))
            self._scales.append(layer.scale)
        h, scale = self._inputs[-1], self._scales[-1]
        return torch.addmm(self._last_bias, h, self._last_matrix, alpha=scale, out=self._last)

    def backward(self, y: Tensor, n: int) -> None:
        """δ_l after ``forward``, for a mean over ``n`` rows (more than these in a blocked sum)."""
        error = self._last.sub_(y).mul_(2 / n)
        for layer in reversed(self._hidden):
            error = layer.backward(error)

    @property
    def first_errors(self) -> Tensor:
        """δ_1 after ``backward``, a row per point; overwritten by the next pass."""
        return self._hidden[0].delta

    def add_gradient(self, into: Layers, factor: float) -> None:
        """``into += factor · ∂ℓ/∂w``; into the weights with −η this is the SGD step itself."""
        for (matrix, bias), h, scale, error in zip(
            into, self._inputs, self._scales, self._errors, strict=True
        ):
            matrix.addmm_(error, h, alpha=factor * scale)
            bias.addmv_(error, self._ones, alpha=factor)


class _HiddenLayer:
    """One hidden layer's share of both passes, with the arrays it writes."""

    def __init__(self, network: Network, layers: Layers, level: int, rows: int) -> None:
        matrix, self._bias = layers[level]
        self._matrix, self._next_matrix = matrix.T, layers[level + 1][0]
        self._activation = ACTIVATIONS[network.activations[level]]
        self._share = network.dropout[level]
        self._h, self.delta = (torch.empty(rows, network.hidden[level]) for _ in range(2))
        self._flat_h, self._flat_delta = self._h.view(-1), self.delta.view(-1)

    def forward(self, x: Tensor, scale: float, dropped: Tensor | None) -> Tensor:
        torch.addmm(self._bias, x, self._matrix, alpha=scale, out=self._h)
        self._activation.apply_(self._h)
        self._dropped, self.scale = dropped, 1.0
        if dropped is not None:
            self._flat_h.index_fill_(0, dropped, 0)
            self.scale = 1 / (1 - self._share)
        return self._h

    def backward(self, error: Tensor) -> Tensor:
        torch.addmm(self.delta, error, self._next_matrix, beta=0, alpha=self.scale, out=self.delta)
        self._activation.pull_back_(self.delta, self._h)
        if self._dropped is not None:
            # The derivative was read off an output that dropout had set to zero.
            self._flat_delta.index_fill_(0, self._dropped, 0)
        return self.delta
