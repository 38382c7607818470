"""Several updates on one device, and the part of them that a heat map explains."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from veilmap.attacks.heatmap.kernel import deal
from veilmap.attacks.leak import starting_weights
from veilmap.attacks.tangent import Blocks, blocks_of, of_updates
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header


@dataclass(frozen=True)
class UpdateBatch:
    """Flat vectors in float64: w_{t-1}, (1, W) if all share it, and G, (updates, W)."""

    header: Header
    observations: Sequence[Observation]
    before: Tensor
    gradient: Tensor

    @classmethod
    def of(
        cls, header: Header, observations: Sequence[Observation], device: torch.device
    ) -> "UpdateBatch":
        """G = w_{t-1} − w_t^k in float64, because the two float32 vectors nearly agree."""
        vectors = starting_weights(observations), [each.weights_after for each in observations]
        before, after = (torch.from_numpy(np.stack(rows)).to(device).double() for rows in vectors)
        return cls(header, observations, before, before - after)

    def __len__(self) -> int:
        return len(self.observations)

    @property
    def device(self) -> torch.device:
        return self.gradient.device

    def keep(self, some: Tensor) -> "UpdateBatch":
        """Only these, by number."""
        if len(some) == len(self):
            return self
        chosen = [self.observations[i] for i in some.tolist()]
        before = of_updates(self.before, some)
        return UpdateBatch(self.header, chosen, before, self.gradient[some])

    def standardise(self, xy_m: Tensor) -> Tensor:
        """Metres to network input, without rounding."""
        scaler = self.header.side_knowledge.scaler
        return (xy_m - xy_m.new_tensor(scaler.mean_m)) / xy_m.new_tensor(scaler.scale_m)

    @cached_property
    def goal(self) -> "Goal":
        return Goal.of(blocks_of(self.header.network, self.gradient))


@dataclass(frozen=True)
class Goal:
    """G by layers and halves.

    The coordinates of an update are split into two halves, every other unit of a layer, so that a
    fit to one half can be tested on the other. Each layer has the weight 1/|G_l|²: the last layer's
    block is tens of times longer than the others and would dominate.

    Attributes:
        halves: of each layer, (updates, inputs + 1, units), or (updates, 1, inputs) of a single
            unit.
        weights: 1/|G_l|², (updates, layers); 0 for a layer that did not move.
        totals: Σ_l |G_l|² / |G_l|² over each half, (updates, 2).
    """

    halves: Sequence[tuple[Tensor, Tensor]]
    weights: Tensor
    totals: Tensor

    @classmethod
    def of(cls, gradient: Blocks) -> "Goal":
        halves = []
        for matrix, bias in zip(gradient[::2], gradient[1::2], strict=True):
            whole = torch.cat([matrix, bias[..., None]], -1)
            single = whole.shape[-2] == 1
            first, second = deal(whole if single else whole.mT, with_bias=single)
            halves.append((first.contiguous(), second.contiguous()))
        lengths = torch.stack(
            [torch.stack([half.square().sum((-2, -1)) for half in each], -1) for each in halves], -2
        )
        of_layers = lengths.sum(-1)
        weights = torch.where(of_layers > 0, 1 / of_layers, 0.0)
        return cls(halves, weights, (weights[..., None] * lengths).sum(-2))
