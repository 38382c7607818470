"""The least-squares problem behind the heat map: which shares of cells explain the update.

G ≈ Σ_j c_j J̄(x_j). The Gram matrix ⟨J̄(x_i), J̄(x_j)⟩ is the neural tangent kernel, which layer
factors give without forming any J. Each layer counts by 1/|G_l|²: the last layer's block is tens
of times longer than the others, and would decide alone.

The coordinates of the update are dealt into two halves, every other unit of a layer, so that a
fit to one half can be tested on the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.kernel import Layer, deal, kernels
from veilmap.attacks.linearisation import Node
from veilmap.attacks.tangent import Blocks, factors
from veilmap.model.network import Network

Vector = NDArray[np.float64]


class Gram:
    """K = Σ_l K_l / |G_l|² over one half of the coordinates, or both.

    It is added up where it is looked at: a fit looks at a tenth of the columns, and every update
    has other weights.
    """

    def __init__(self, kernels: NDArray[np.float64], weights: Vector) -> None:
        self._kernels, self._weights = kernels, weights

    def __getitem__(self, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows, which are the columns too."""
        rows = np.zeros((len(candidates), self._kernels.shape[1]))
        for weight, kernel in zip(self._weights, self._kernels, strict=True):
            if weight:  # half of them are 0 in one half of the coordinates
                rows += weight * kernel[candidates]
        return rows

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.float64]:
        """All rows."""
        return self[np.arange(self._kernels.shape[1])]

    def __add__(self, other: "Gram") -> "Gram":
        return Gram(self._kernels, self._weights + other._weights)

    def diagonal(self) -> Vector:
        """|J̄(x_j)|²."""
        diagonal: Vector = self._weights @ self._kernels.diagonal(axis1=1, axis2=2)
        return diagonal


@dataclass(frozen=True)
class Equations:
    """K, b and |G|² over some coordinates."""

    gram: Gram
    b: Vector
    total: float

    def __add__(self, other: "Equations") -> "Equations":
        return Equations(self.gram + other.gram, self.b + other.b, self.total + other.total)

    def unexplained(self, c: Vector) -> float:
        """|G − Σ c_j J̄(x_j)|² / |G|²."""
        active = np.flatnonzero(c)
        some = c[active]
        explained = 2 * some @ self.b[active] - some @ self.gram[active][:, active] @ some
        return max(self.total - float(explained), 0.0) / self.total if self.total else 0.0


class Dictionary:
    """J̄ at the candidates ``x`` (points, 2), and its Gram matrices; made once for many updates."""

    def __init__(self, network: Network, nodes: Sequence[Node], x: Tensor) -> None:
        found = [factors(network, node.weights, x[None]) for node in nodes]
        shares = torch.tensor([node.share for node in nodes], dtype=x.dtype)
        self._layers = [
            Layer.of(
                shares,
                torch.cat([each.inputs[level] for each in found]),
                torch.cat([each.errors[level] for each in found]),
            )
            for level in range(len(network.shapes))
        ]
        self._kernels = kernels(self._layers)

    def equations(self, gradient: Blocks) -> tuple[Equations, Equations]:
        """The two halves of the problem for one update."""
        parts = [
            _products(layer, block) for layer, block in zip(self._layers, gradient, strict=True)
        ]
        lengths = np.array([[length for _, length in halves] for halves in parts])
        of_layers = lengths.sum(axis=1, keepdims=True)
        weights = np.divide(1.0, of_layers, where=of_layers > 0, out=np.zeros_like(of_layers))
        first, second = (
            Equations(
                Gram(self._kernels, (weights * (np.arange(2) == half)).ravel()),
                sum(w * halves[half][0] for w, halves in zip(weights[:, 0], parts, strict=True)),
                float(weights[:, 0] @ lengths[:, half]),
            )
            for half in (0, 1)
        )
        return first, second


def _products(layer: Layer, block: tuple[Tensor, Tensor]) -> list[tuple[Vector, float]]:
    """⟨G_l, J̄_l(x_j)⟩ and |G_l|² over each half of the layer's coordinates."""
    matrix = torch.cat([block[0][0], block[1][0, :, None]], 1)
    single = len(matrix) == 1
    halves = deal(matrix if single else matrix.T, with_bias=single)
    return [
        ((dealt * (layer.whole @ half)).sum((0, -1)).numpy(), float((half**2).sum()))
        for dealt, half in zip(layer.dealt, halves, strict=True)
    ]
