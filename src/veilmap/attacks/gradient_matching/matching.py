"""How well a dummy point explains a leaked gradient: the objective of Algorithm 2.

The gradient of a dummy point (x', y') is 2(F(x') − y') J(x'), so its cosine with G is
sign(F(x') − y') · cos(G, J(x')): the dummy label matters through one sign alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.tangent import Blocks, blocks_of, factors
from veilmap.model.network import Floats, Network


@dataclass(frozen=True)
class Match:
    """At each candidate: F(x'), and cos(G, J(x')) as it is with a positive residual."""

    signal: Tensor
    cosine: Tensor

    def with_label(self, label: Tensor) -> Tensor:
        """cos(∇w, ∇w') of Algorithm 2 for the dummy labels y'."""
        return torch.sign(self.signal - label) * self.cosine


@dataclass(frozen=True)
class Matching:
    """The objective for several updates at once, at weights that they share or of their own."""

    network: Network
    weights: Blocks
    gradient: Blocks

    @classmethod
    def of(
        cls,
        network: Network,
        weights: Sequence[Floats],
        gradients: Sequence[NDArray[np.float64]],
        device: torch.device | None = None,
    ) -> "Matching":
        """From flat vectors, one pair per update; on the processor if no device is given."""
        rows, leaked = (torch.from_numpy(np.stack(each)) for each in (weights, gradients))
        return cls.of_rows(network, rows.to(device).double(), leaked.to(device))

    @classmethod
    def of_rows(cls, network: Network, weights: Tensor, gradients: Tensor) -> "Matching":
        """From float64 rows on any device; a single row of weights is shared by all updates.

        The length of G does not matter; it becomes 1.
        """
        lengths = gradients.norm(dim=1, keepdim=True)
        unit = gradients / torch.where(lengths > 0, lengths, 1.0)
        return cls(network, blocks_of(network, weights), blocks_of(network, unit))

    @property
    def dtype(self) -> torch.dtype:
        return self.weights[0][0].dtype

    @property
    def device(self) -> torch.device:
        return self.weights[0][0].device

    def to(self, dtype: torch.dtype) -> "Matching":
        """The same in another precision; float32 takes half the time."""
        return Matching(
            self.network,
            [(matrix.to(dtype), bias.to(dtype)) for matrix, bias in self.weights],
            [(matrix.to(dtype), bias.to(dtype)) for matrix, bias in self.gradient],
        )

    def tensor(self, values: Any) -> Tensor:
        """Numbers in this precision, on this device."""
        return torch.tensor(values, dtype=self.dtype, device=self.device)

    def keep(self, updates: Tensor) -> "Matching":
        """Only some of the updates."""
        shared = len(self.weights[0][0]) == 1
        own = [(matrix[updates], bias[updates]) for matrix, bias in self.gradient]
        if shared:
            return Matching(self.network, self.weights, own)
        weights = [(matrix[updates], bias[updates]) for matrix, bias in self.weights]
        return Matching(self.network, weights, own)

    def at(self, x: Tensor) -> Match:
        """The match at the candidates ``x`` (updates, points, 2), differentiable in them.

        A single row of candidates is evaluated for all updates.
        """
        found = factors(self.network, self.weights, x)
        length = found.squared_norm().clamp_min(torch.finfo(x.dtype).tiny).sqrt()
        return Match(found.signal, found.inner(self.gradient) / length)
