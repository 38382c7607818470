"""How well a dummy point explains a leaked gradient: the objective of Algorithm 2.

The gradient of a dummy point (x', y') is 2(F(x') − y') J(x'), so its cosine with G is
sign(F(x') − y') · cos(G, J(x')): the dummy label matters through one sign alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.tangent import Blocks, as_blocks, factors
from veilmap.federation.observation import Observation
from veilmap.model.network import Floats, Network


def leaked_gradient(observation: Observation) -> NDArray[np.float64]:
    """∇w as the server reads it off the update: w_{t-1} − w_t^k, in the direction of +∇ℓ.

    In float64, because the two float32 vectors nearly agree.
    """
    gradient: NDArray[np.float64] = observation.weights_before.astype(
        np.float64
    ) - observation.weights_after.astype(np.float64)
    return gradient


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
    """The objective for several updates at once, each at weights and gradient of its own."""

    network: Network
    weights: Blocks
    gradient: Blocks

    @classmethod
    def of(
        cls,
        network: Network,
        weights: Sequence[Floats],
        gradients: Sequence[NDArray[np.float64]],
    ) -> "Matching":
        """From flat vectors, one pair per update. The length of G does not matter; it becomes 1."""
        rows = torch.from_numpy(np.stack(gradients))
        lengths = rows.norm(dim=1, keepdim=True)
        unit = rows / torch.where(lengths > 0, lengths, 1.0)
        return cls(network, as_blocks(network, np.stack(weights)), as_blocks(network, unit.numpy()))

    @property
    def dtype(self) -> torch.dtype:
        return self.weights[0][0].dtype

    def to(self, dtype: torch.dtype) -> "Matching":
        """The same in another precision; float32 takes half the time."""
        return Matching(
            self.network,
            [(matrix.to(dtype), bias.to(dtype)) for matrix, bias in self.weights],
            [(matrix.to(dtype), bias.to(dtype)) for matrix, bias in self.gradient],
        )

    def keep(self, updates: Tensor) -> "Matching":
        """Only some of the updates."""
        return Matching(
            self.network,
            [(matrix[updates], bias[updates]) for matrix, bias in self.weights],
            [(matrix[updates], bias[updates]) for matrix, bias in self.gradient],
        )

    def at(self, x: Tensor) -> Match:
        """The match at the candidates ``x`` (updates, points, 2), differentiable in them."""
        found = factors(self.network, self.weights, x)
        length = found.squared_norm().clamp_min(torch.finfo(x.dtype).tiny).sqrt()
        return Match(found.signal, found.inner(self.gradient) / length)
