"""The least-squares problem behind the heat map: which shares of squares explain the update.

G ≈ Σ_j c_j J̄(x_j). The Gram matrix ⟨J̄(x_i), J̄(x_j)⟩ is the neural tangent kernel, which layer
factors give without forming any J. Layers are weighted by 1/|G_l|², and there is one problem for
each half of the coordinates.

All tensors have a leading axis of updates, of length 1 if all updates share them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from veilmap.attacks.heatmap.heatmap import LinearisationName
from veilmap.attacks.heatmap.kernel import Layer, kernels
from veilmap.attacks.heatmap.linearisation import Guess, PathNode, nodes
from veilmap.attacks.heatmap.updates import Goal, UpdateBatch
from veilmap.attacks.tangent import factors, of_updates
from veilmap.model.network import Network

# Whose products by unit and candidate fit in memory: 14 MB for each, with 2,500 candidates and the
# paper's network.
_UPDATES_AT_ONCE = 256


@dataclass(frozen=True)
class Equations:
    """K, b and |G|² over some coordinates.

    K = Σ w_l K_l is summed only where it is read: a fit reads a tenth of the columns, and users
    with the same kernels have different weights.

    Attributes:
        kernels: K_l, (updates, kernels, candidates, candidates).
        parts: which of the kernels belong to the coordinates.
        weights: w_l, (updates, kernels).
        b: ⟨G, J̄(x_j)⟩, (updates, candidates).
        total: |G|², (updates).
        real: which candidates count, (updates, candidates); the others are padding with 0.
    """

    kernels: Tensor
    parts: tuple[int, ...]
    weights: Tensor
    b: Tensor
    total: Tensor
    real: Tensor

    def __add__(self, other: "Equations") -> "Equations":
        """Over the coordinates of both, which are disjoint."""
        return replace(
            self, parts=self.parts + other.parts, b=self.b + other.b, total=self.total + other.total
        )

    def keep(self, some: Tensor, kernels: Tensor | None = None) -> "Equations":
        """Only these updates, by number; ``kernels`` are theirs, if they are known already."""
        if len(some) == len(self.b):
            return self
        return replace(
            self,
            kernels=of_updates(self.kernels, some) if kernels is None else kernels,
            weights=self.weights[some],
            b=self.b[some],
            total=self.total[some],
            real=of_updates(self.real, some),
        )

    def rows(self, columns: Tensor) -> Tensor:
        """Some rows of K, which are the columns too: (updates, columns, candidates)."""
        updates = torch.arange(len(columns), device=columns.device)[:, None]
        updates = updates * (len(self.kernels) > 1)
        total = self.b.new_zeros(*columns.shape, self.b.shape[1])
        for part in self.parts:
            total += self.weights[:, part, None, None] * self.kernels[updates, part, columns]
        return total

    def mean_diagonal(self) -> Tensor:
        """The mean of |J̄(x_j)|², (updates)."""
        traces = self.kernels.diagonal(dim1=-2, dim2=-1).sum(-1)
        some = list(self.parts)
        return (self.weights[:, some] * traces[:, some]).sum(-1) / self.real.sum(-1)

    def unexplained(self, c: Tensor) -> Tensor:
        """|G − Σ c_j J̄(x_j)|² / |G|² of several solutions, (updates, solutions, candidates)."""
        active = (c != 0).flatten(0, 1).any(0).nonzero()[:, 0]
        some, explained = c[..., active], 2 * (c @ self.b[..., None])[..., 0]
        for part in self.parts:
            kernel = self.kernels[:, part, active[:, None], active]
            explained -= self.weights[:, part, None] * (some @ kernel * some).sum(-1)
        total = self.total[:, None]
        return torch.where(total > 0, (total - explained).clamp_min(0.0) / total, 0.0)


# The same problem over each half of the coordinates, with kernels that both share.
Halves = tuple[Equations, Equations]


def keep_halves(halves: Halves, some: Tensor) -> Halves:
    """Only these updates, by number."""
    first = halves[0].keep(some)
    return first, halves[1].keep(some, first.kernels)


class Dictionary:
    """J̄ at the candidates and its kernels.

    Args:
        network: F.
        nodes: of each update, or shared.
        x: the candidates, standardised, (updates, candidates, 2).
        real: which of them count, (updates, candidates); all by default.
        goal: if given, the kernels are for these updates only: one for each half instead of one
            for each half of each layer.
    """

    def __init__(
        self,
        network: Network,
        nodes: Sequence[PathNode],
        x: Tensor,
        real: Tensor | None = None,
        goal: Goal | None = None,
    ) -> None:
        found, depth = [factors(network, node.weights, x) for node in nodes], len(network.shapes)
        self._real = x.new_ones(x.shape[:2], dtype=torch.bool) if real is None else real
        self._summed = goal is not None
        shares = [node.share[:, None] * self._real for node in nodes]
        roots = x.new_ones(1, depth) if goal is None else goal.weights.sqrt()
        self._layers = [
            Layer.of(
                [roots[:, level, None] * each for each in shares],
                [each.inputs[level] for each in found],
                [each.errors[level] for each in found],
                first=level == 0,
                last=level == depth - 1,
            )
            for level in range(depth)
        ]
        self._kernels = kernels(self._layers, summed=self._summed)

    def equations(self, goal: Goal) -> Halves:
        """The two halves of the problem, of all updates."""
        return self._half(goal, 0), self._half(goal, 1)

    def _half(self, goal: Goal, half: int) -> Equations:
        # Every other kernel, starting with this half's.
        parts = tuple(range(half, self._kernels.shape[1], 2))
        scale = goal.weights.sqrt() if self._summed else goal.weights
        of_layers = [
            scale[:, level, None] * _products(layer, goal.halves[level][half], half)
            for level, layer in enumerate(self._layers)
        ]
        b = torch.stack(of_layers).sum(0)
        ones = goal.weights.new_ones(len(scale), 2)
        weights = ones if self._summed else goal.weights.repeat_interleave(2, 1)
        return Equations(self._kernels, parts, weights, b, goal.totals[:, half], self._real)


def own_equations(
    updates: UpdateBatch,
    linearise: LinearisationName,
    x: Tensor,
    guess: Guess | None = None,
    real: Tensor | None = None,
) -> Halves:
    """With kernels for these updates only, over the candidates ``x``; a path requires a guess."""
    network, goal = updates.header.network, updates.goal
    return Dictionary(network, nodes(linearise, updates, guess), x, real, goal).equations(goal)


def _products(layer: Layer, goal: Tensor, half: int) -> Tensor:
    """⟨G_l, J̄_l(x_j)⟩ over one half of the layer's coordinates, (updates, candidates)."""
    blocks = [slice(i, i + _UPDATES_AT_ONCE) for i in range(0, len(goal), _UPDATES_AT_ONCE)]
    parts = []
    for dealt, whole in zip(layer.dealt, layer.whole, strict=True):
        of_blocks = [
            _product(of_updates(dealt[half], rows), of_updates(whole, rows), goal[rows])
            for rows in blocks
        ]
        parts.append(torch.cat(of_blocks))
    return torch.stack(parts).sum(0)


def _product(dealt: Tensor, whole: Tensor, goal: Tensor) -> Tensor:
    if whole.shape[-1] == 1:
        return (dealt @ goal.mT * whole)[..., 0]
    return (dealt * (whole @ goal)).sum(-1)
