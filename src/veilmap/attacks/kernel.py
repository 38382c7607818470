"""The neural tangent kernel ⟨J̄(x_i), J̄(x_j)⟩ of some candidates, layer by layer and half by half.

A layer's block of J is δ (h, 1)ᵀ, so its kernel is (δ δᵀ) ∘ (h hᵀ + 1). With several nodes
J̄ = Σ_p a_p J_p, and the kernel is the sum over all pairs of nodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

# So many rows at once: large enough for fast products, small enough that little is computed of
# what lies below the diagonal, which is mirrored.
_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Layer:
    """δ and (h, 1) of one layer, (nodes, candidates, units) and (nodes, candidates, inputs).

    The columns of one of the two are dealt out in halves: the units of the layer, or its inputs
    where it has a single unit. That one carries the nodes' shares.
    """

    dealt: tuple[Tensor, Tensor]
    whole: Tensor

    @classmethod
    def of(cls, shares: Tensor, inputs: Tensor, errors: Tensor) -> "Layer":
        """From a_p, h_p and δ_p."""
        with_bias = torch.nn.functional.pad(inputs, (0, 1), value=1.0)
        single = errors.shape[-1] == 1
        dealt, whole = (with_bias, errors) if single else (errors, with_bias)
        dealt = shares[:, None, None] * dealt
        # The nodes agree on the first layer's inputs and on the last one's δ = 1; there
        # Σ_p a_p δ_p (h, 1)ᵀ is a single product.
        if (whole == whole[0]).all():
            dealt, whole = dealt.sum(0, keepdim=True), whole[:1]
        first, second = deal(dealt, with_bias=single)
        return cls((first.contiguous(), second.contiguous()), whole)

    def kernels(self, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
        """Of the two halves, summed over all pairs of nodes."""
        size = self.whole[0, rows].shape[0], self.whole[0, columns].shape[0]
        first, second = self.whole.new_zeros(2, *size)
        for p, q in self._pairs(mirrored=rows == columns):
            whole = self.whole[p, rows] @ self.whole[q, columns].T
            for total, dealt in zip((first, second), self.dealt, strict=True):
                part = whole * (dealt[p, rows] @ dealt[q, columns].T)
                total += part if p == q or rows != columns else part + part.T
        return first, second

    def _pairs(self, *, mirrored: bool) -> Iterator[tuple[int, int]]:
        """Of nodes; on the diagonal (q, p) is (p, q) mirrored."""
        nodes = range(len(self.whole))
        return combinations_with_replacement(nodes, 2) if mirrored else product(nodes, nodes)


def deal(columns: Tensor, *, with_bias: bool) -> tuple[Tensor, Tensor]:
    """Every other column; the bias, which is the last one, goes to the first half."""
    if not with_bias:
        return columns[..., 0::2], columns[..., 1::2]
    inputs, bias = columns[..., :-1], columns[..., -1:]
    return torch.cat([inputs[..., 0::2], bias], -1), inputs[..., 1::2]


def kernels(layers: Sequence[Layer]) -> NDArray[np.float64]:
    """Of every layer and half: (layers · halves, candidates, candidates)."""
    count = layers[0].whole.shape[1]
    # numpy asks for large pages, which take half the time to fill.
    result = np.empty((2 * len(layers), count, count))
    whole = torch.from_numpy(result)
    for start in range(0, count, _ROWS_AT_ONCE):
        end = min(start + _ROWS_AT_ONCE, count)
        rows, right = slice(start, end), slice(end, count)
        on_diagonal = (part for layer in layers for part in layer.kernels(rows, rows))
        beside = (part for layer in layers for part in layer.kernels(rows, right))
        for kernel, middle, part in zip(whole, on_diagonal, beside, strict=True):
            kernel[rows, rows], kernel[rows, right], kernel[right, rows] = middle, part, part.T
    return result
