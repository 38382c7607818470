"""J(x) = ∂F/∂w of a dense network in layer factors, so that no gradient is ever formed.

With the layer inputs h_l and the back-propagated δ_l = ∂F/∂z_l the block of J(x) that belongs to
(W_l, b_l) is δ_l (h_l, 1)ᵀ. Products of such blocks are products of their factors: three matrix
products per candidate, thousands of candidates in one call.

All tensors carry a leading axis of updates, each with weights of its own, and a second one of
points: x is (updates, points, 2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.model.network import ActivationName, Network

# (matrix, bias) of each layer, (updates, outputs, inputs) and (updates, outputs)
Blocks = Sequence[tuple[Tensor, Tensor]]

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
        for h, delta, (matrix, bias) in zip(self.inputs, self.errors, blocks, strict=True):
            total = total + (delta * (h @ matrix.mT + bias[:, None])).sum(-1)
        return total

    def squared_norm(self) -> Tensor:
        """|J(x)|² = Σ_l |δ_l|² (|h_l|² + 1)."""
        total = torch.zeros_like(self.signal)
        for h, delta in zip(self.inputs, self.errors, strict=True):
            total = total + (delta * delta).sum(-1) * ((h * h).sum(-1) + 1)
        return total

    def combine(self, shares: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Σ_j c_j J(x_j) as blocks; ``shares`` is (updates, points)."""
        weighted = [delta * shares[..., None] for delta in self.errors]
        return [
            (delta.mT @ h, delta.sum(-2)) for delta, h in zip(weighted, self.inputs, strict=True)
        ]


def factors(network: Network, blocks: Blocks, x: Tensor) -> Factors:
    """The factors of J at the points ``x`` (standardised), without dropout."""
    inputs = [x]
    for (matrix, bias), name in zip(blocks, network.activations, strict=False):
        inputs.append(_FORWARD[name](inputs[-1] @ matrix.mT + bias[:, None]))
    matrix, bias = blocks[-1]
    signal = inputs[-1] @ matrix.mT + bias[:, None]
    errors = [torch.ones_like(signal)]
    for level in reversed(range(len(network.hidden))):
        slope = _SLOPE[network.activations[level]](inputs[level + 1])
        errors.append(errors[-1] @ blocks[level + 1][0] * slope)
    return Factors(tuple(inputs), tuple(reversed(errors)), signal[..., 0])


def as_blocks(network: Network, flat: NDArray[np.floating]) -> list[tuple[Tensor, Tensor]]:
    """Flat vectors (updates, W), or a single one (W), as float64 blocks with a leading axis."""
    rows = torch.from_numpy(np.atleast_2d(flat)).double()
    blocks, start = [], 0
    for outputs, inputs in network.shapes:
        middle, end = start + outputs * inputs, start + outputs * (inputs + 1)
        matrix = rows[:, start:middle].reshape(len(rows), outputs, inputs)
        blocks.append((matrix, rows[:, middle:end]))
        start = end
    return blocks
