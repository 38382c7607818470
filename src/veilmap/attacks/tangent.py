"""J(x) = ∂F/∂w of a dense network in layer factors, so that no gradient is ever formed.

With the layer inputs h_l and the back-propagated δ_l = ∂F/∂z_l the block of J(x) that belongs to
(W_l, b_l) is δ_l (h_l, 1)ᵀ. Products of such blocks are products of their factors: three matrix
products per candidate, thousands of candidates in one call.

All tensors have a leading axis of updates and a second one of points: x is (updates, points, 2).
Weights or points that all updates share have a leading axis of 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from veilmap.model.network import ActivationName, Network

# W_1, b_1, W_2, b_2, …: (updates, outputs, inputs) and (updates, outputs) of each layer.
Blocks = Sequence[Tensor]

_FORWARD: dict[ActivationName, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "elu": torch.nn.functional.elu,
}
# The derivative, read off the output and differentiable once more.
_SLOPE: dict[ActivationName, Callable[[Tensor], Tensor]] = {
    "relu": lambda h: (h > 0).to(h.dtype),
    "sigmoid": lambda h: h * (1 - h),
    "tanh": lambda h: 1 - h * h,
    "elu": lambda h: torch.where(h > 0, torch.ones_like(h), h + 1),
}


@dataclass(frozen=True)
class Factors:
    """h_l and δ_l of every layer at some points, and F there."""

    inputs: tuple[Tensor, ...]
    errors: tuple[Tensor, ...]
    signal: Tensor

    def inner(self, blocks: Blocks) -> Tensor:
        """⟨G, J(x)⟩ = Σ_l δ_lᵀ (G_l h_l + g_l) for a vector G given as blocks."""
        total = torch.zeros_like(self.signal)
        layers = zip(self.inputs, self.errors, blocks[::2], blocks[1::2], strict=True)
        for h, delta, matrix, bias in layers:
            total = total + (delta * _affine(h, _folding(matrix), bias)).sum(-1)
        return total

    def squared_norm(self) -> Tensor:
        """|J(x)|² = Σ_l |δ_l|² (|h_l|² + 1)."""
        total = torch.zeros_like(self.signal)
        for h, delta in zip(self.inputs, self.errors, strict=True):
            total = total + _square(delta) * (_square(h) + 1)
        return total

    def combine(self, shares: Tensor) -> list[Tensor]:
        """Σ_j c_j J(x_j) as blocks; ``shares`` is (updates, points)."""
        blocks = []
        for h, delta in zip(self.inputs, self.errors, strict=True):
            weighted = delta * shares[..., None]
            blocks += [weighted.mT @ h, weighted.sum(-2)]
        return blocks


def factors(network: Network, blocks: Blocks, x: Tensor) -> Factors:
    """The factors of J at the points ``x`` (standardised), without dropout."""
    matrices, biases = [_folding(matrix) for matrix in blocks[::2]], blocks[1::2]
    inputs = [x]
    for matrix, bias, name in zip(matrices, biases, network.activations, strict=False):
        inputs.append(_FORWARD[name](_affine(inputs[-1], matrix, bias)))
    signal = _affine(inputs[-1], matrices[-1], biases[-1])
    errors = [torch.ones_like(signal)]
    pulled = matrices[-1]  # δ = 1 in the last layer
    for level in reversed(range(len(network.hidden))):
        errors.append(pulled * _SLOPE[network.activations[level]](inputs[level + 1]))
        pulled = errors[-1] @ matrices[level] if level else pulled
    return Factors(tuple(inputs), tuple(reversed(errors)), signal[..., 0])


def activate(name: ActivationName, z: Tensor) -> Tensor:
    """a(z) of a layer's activation."""
    return _FORWARD[name](z)


def slopes(name: ActivationName, h: Tensor) -> Tensor:
    """a'(z) of a layer's activation, from its output h = a(z)."""
    return _SLOPE[name](h)


def _folding(matrix: Tensor) -> Tensor:
    """Without its leading axis if all updates share it, so that torch makes a single product."""
    return matrix[0] if len(matrix) == 1 else matrix


def _affine(h: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    """W h + b; adding b in the product saves a pass over the result."""
    if matrix.ndim == 2:
        return torch.nn.functional.linear(h, matrix, bias[0])
    return torch.baddbmm(bias[:, None], h.expand(len(matrix), -1, -1), matrix.mT)


def _square(vectors: Tensor) -> Tensor:
    """|v|², in one pass."""
    length: Tensor = torch.linalg.vector_norm(vectors, dim=-1)
    return length.square()


def blocks_of(network: Network, rows: Tensor) -> list[Tensor]:
    """Flat vectors (updates, W) as blocks, without copying them."""
    return [block for layer in network.layers(rows) for block in layer]


def of_updates(values: Tensor, some: Tensor | slice) -> Tensor:
    """Those of some updates; what all share has a leading axis of 1."""
    return values if len(values) == 1 else values[some]
