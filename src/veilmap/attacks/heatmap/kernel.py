"""The neural tangent kernel ⟨J̄(x_i), J̄(x_j)⟩ of some candidates, layer by layer and half by half.

A layer's block of J is δ (h, 1)ᵀ, so its kernel is (δ δᵀ) ∘ (h hᵀ + 1). With several nodes
J̄ = Σ_p a_p J_p, and the kernel is the sum over all pairs of nodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, combinations_with_replacement, product

import numpy as np
import torch
from torch import Tensor

# Rows per block: large enough for fast products, small enough that little is computed below the
# diagonal, which is mirrored.
_ROWS_AT_ONCE = 128

# One tensor for the even columns and one for the odd ones.
Dealt = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Layer:
    """δ and (h, 1) of one layer at each node, (updates, candidates, units) and (…, inputs).

    The columns of one of the two are split into halves: the units of the layer, or its inputs if it
    has a single unit. This one is multiplied by the nodes' shares.
    """

    dealt: Sequence[Dealt]
    whole: Sequence[Tensor]

    @classmethod
    def of(
        cls,
        shares: Sequence[Tensor],
        inputs: Sequence[Tensor],
        errors: Sequence[Tensor],
        *,
        first: bool,
        last: bool,
    ) -> "Layer":
        """From a_p (updates, candidates), h_p and δ_p of each node."""
        with_bias = [torch.nn.functional.pad(each, (0, 1), value=1.0) for each in inputs]
        single = errors[0].shape[-1] == 1
        dealt, whole = (with_bias, errors) if single else (errors, with_bias)
        parts = [
            _scaled(share[..., None], deal(each, with_bias=single))
            for share, each in zip(shares, dealt, strict=True)
        ]
        # The nodes agree on the first layer's inputs and on the last one's δ = 1; there
        # Σ_p a_p δ_p (h, 1)ᵀ is a single product.
        if last or (first and not single):
            return cls([reduce(_add, parts)], whole[:1])
        return cls(parts, whole)

    def kernels(self, rows: slice, columns: slice) -> Dealt:
        """Summed over all pairs of nodes."""
        mirrored = rows == columns
        pairs = self._pairs(mirrored=mirrored)
        return reduce(_add, (self._kernel(p, q, rows, columns, mirrored) for p, q in pairs))

    def _kernel(self, p: int, q: int, rows: slice, columns: slice, mirrored: bool) -> Dealt:
        """For two nodes, including (q, p) if that mirrors this one."""
        whole = self.whole[p][:, rows] @ self.whole[q][:, columns].mT
        first, second = (
            (mine[:, rows] @ others[:, columns].mT).mul_(whole)
            for mine, others in zip(self.dealt[p], self.dealt[q], strict=True)
        )
        return (first, second) if p == q or not mirrored else (first + first.mT, second + second.mT)

    def _pairs(self, *, mirrored: bool) -> Iterator[tuple[int, int]]:
        """The pairs of nodes; on the diagonal (q, p) mirrors (p, q)."""
        nodes = range(len(self.whole))
        return combinations_with_replacement(nodes, 2) if mirrored else product(nodes, nodes)


def deal(columns: Tensor, *, with_bias: bool) -> Dealt:
    """Every other column; the bias, which is the last one, goes to the first half."""
    if not with_bias:
        return columns[..., 0::2], columns[..., 1::2]
    inputs, bias = columns[..., :-1], columns[..., -1:]
    return torch.cat([inputs[..., 0::2], bias], -1), inputs[..., 1::2]


def kernels(layers: Sequence[Layer], *, summed: bool) -> Tensor:
    """The kernels of the two halves of each layer, alternating; of all layers together if summed.

    (updates, kernels, candidates, candidates)
    """
    some = layers[0].dealt[0][0]
    updates, count = some.shape[:2]
    whole = _empty((updates, 2 if summed else 2 * len(layers), count, count), some)
    for start in range(0, count, _ROWS_AT_ONCE):
        rows, right = slice(start, start + _ROWS_AT_ONCE), slice(start + _ROWS_AT_ONCE, count)
        for number, part in enumerate(_parts(layers, rows, rows, summed)):
            whole[:, number, rows, rows] = part
        if right.start < count:
            for number, part in enumerate(_parts(layers, rows, right, summed)):
                whole[:, number, rows, right] = part
                whole[:, number, right, rows] = part.mT
    return whole


def _parts(layers: Sequence[Layer], rows: slice, columns: slice, summed: bool) -> Sequence[Tensor]:
    found = [layer.kernels(rows, columns) for layer in layers]
    return [*reduce(_add, found)] if summed else [*chain.from_iterable(found)]


def _scaled(scale: Tensor, halves: Dealt) -> Dealt:
    return scale * halves[0], scale * halves[1]


def _add(totals: Dealt, others: Dealt) -> Dealt:
    """In place, because there may be gigabytes of them."""
    return totals[0].add_(others[0]), totals[1].add_(others[1])


def _empty(shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Uninitialised; on the CPU from numpy, whose large pages take half the time to fill."""
    if like.device.type == "cpu":
        return torch.from_numpy(np.empty(shape))
    return like.new_empty(shape)
