"""The least-squares problem behind the heat map: which shares of cells explain the update.

G ≈ Σ_j c_j J̄(x_j). The Gram matrix ⟨J̄(x_i), J̄(x_j)⟩ is the neural tangent kernel, which layer
factors give without forming any J. Each layer counts by 1/|G_l|²: the last layer's block is a
hundred times longer than the others and says least about where the points are.

The coordinates of the update are dealt into two halves, every other unit of a layer, so that a
fit to one half can be tested on the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.linearisation import Node
from veilmap.attacks.tangent import Blocks, Factors, factors
from veilmap.model.network import Network

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Equations:
    """K, b and |G|² over some coordinates."""

    gram: NDArray[np.float64]
    b: Vector
    total: float

    def __add__(self, other: "Equations") -> "Equations":
        return Equations(self.gram + other.gram, self.b + other.b, self.total + other.total)

    def unexplained(self, c: Vector) -> float:
        """|G − Σ c_j J̄(x_j)|² / |G|²."""
        active = np.flatnonzero(c)
        some = c[active]
        explained = 2 * some @ self.b[active] - some @ self.gram[np.ix_(active, active)] @ some
        return max(self.total - float(explained), 0.0) / self.total if self.total else 0.0


class Dictionary:
    """J̄ at the candidates ``x`` (points, 2), and its Gram matrices; made once for many updates."""

    def __init__(self, network: Network, nodes: Sequence[Node], x: Tensor) -> None:
        self._nodes = [(node.share, factors(network, node.weights, x[None])) for node in nodes]
        self._grams = [self._gram(level) for level in range(len(network.shapes))]

    def equations(self, gradient: Blocks) -> tuple[Equations, Equations]:
        """The two halves of the problem for one update."""
        lengths = [_squared_length(block) for block in gradient]
        weights = [1 / length if length else 0.0 for length in lengths]
        return self._half(gradient, weights, 0), self._half(gradient, weights, 1)

    def _half(self, gradient: Blocks, weights: Sequence[float], half: int) -> Equations:
        gram, b, total = torch.zeros(()), torch.zeros(()), 0.0
        for level, (weight, block) in enumerate(zip(weights, gradient, strict=True)):
            part = _half_of_block(block, half)
            gram = gram + weight * self._grams[level][half]
            for share, of_node in self._nodes:
                b = b + weight * share * _products(of_node, level, part)
            total += weight * _squared_length(part)
        return Equations(gram.numpy(), b.numpy(), total)

    def _gram(self, level: int) -> tuple[Tensor, Tensor]:
        """Σ_pq a_p a_q (δ_p δ_qᵀ) ∘ (h_p h_qᵀ + 1) of one layer, by halves."""
        first = second = torch.zeros(())
        for p, (share, mine) in enumerate(self._nodes):
            for other_share, other in self._nodes[p:]:
                halves = _kernel(mine, other, level, share * other_share)
                if other is not mine:
                    halves = (halves[0] + halves[0].T, halves[1] + halves[1].T)
                first, second = first + halves[0], second + halves[1]
        return first, second


def _kernel(one: Factors, other: Factors, level: int, factor: float) -> tuple[Tensor, Tensor]:
    """``factor`` ⟨J(x_i), J'(x_j)⟩ of one layer, over the two halves of its coordinates."""
    (h, delta), (h2, delta2) = (
        (each.inputs[level][0], each.errors[level][0] * scale)
        for each, scale in ((one, factor), (other, 1.0))
    )
    if delta.shape[1] > 1:
        inputs = (h @ h2.T).add_(1)
        first, second = (delta[:, i::2] @ delta2[:, i::2].T for i in (0, 1))
        return first.mul_(inputs), second.mul_(inputs)
    # The last layer has one output; its inputs are dealt out, the bias goes to the first half.
    errors = delta @ delta2.T
    first, second = (h[:, i::2] @ h2[:, i::2].T for i in (0, 1))
    return first.add_(1).mul_(errors), second.mul_(errors)


def _half_of_block(block: tuple[Tensor, Tensor], half: int) -> tuple[Tensor, Tensor]:
    """The block with the coordinates of the other half set to zero."""
    matrix, bias = torch.zeros_like(block[0]), torch.zeros_like(block[1])
    if matrix.shape[1] > 1:
        matrix[:, half::2], bias[:, half::2] = block[0][:, half::2], block[1][:, half::2]
    else:
        matrix[..., half::2] = block[0][..., half::2]
        bias += (1 - half) * block[1]
    return matrix, bias


def _products(of_node: Factors, level: int, block: tuple[Tensor, Tensor]) -> Tensor:
    h, delta = of_node.inputs[level][0], of_node.errors[level][0]
    return (delta * (h @ block[0][0].T + block[1][0])).sum(-1)


def _squared_length(block: tuple[Tensor, Tensor]) -> float:
    return float((block[0] ** 2).sum() + (block[1] ** 2).sum())
