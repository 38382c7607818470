"""How well a dummy point explains a leaked gradient: the objective of Algorithm 2.

The gradient of a dummy point (x', y') is 2(F(x') − y') J(x'), so its cosine with G is
sign(F(x') − y') · cos(G, J(x')): the dummy label matters through one sign alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.tangent import Blocks, blocks_of, factors, of_updates
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
class Objective(ABC):
    """The objective for several updates at once, on one device in one precision.

    Attributes:
        weights: of each update; a leading axis of 1 if all share them.
        gradient: G of each update, at length 1.
    """

    weights: Blocks
    gradient: Blocks

    @property
    def dtype(self) -> torch.dtype:
        return self.weights[0].dtype

    @property
    def device(self) -> torch.device:
        return self.weights[0].device

    def to(self, dtype: torch.dtype) -> Self:
        """The same in another precision; float32 takes half the time."""
        weights = [block.to(dtype) for block in self.weights]
        return replace(self, weights=weights, gradient=[each.to(dtype) for each in self.gradient])

    def tensor(self, values: Any) -> Tensor:
        """Numbers in this precision, on this device."""
        return torch.tensor(values, dtype=self.dtype, device=self.device)

    def keep(self, updates: Tensor) -> Self:
        """Only some of the updates."""
        weights = [of_updates(block, updates) for block in self.weights]
        return replace(self, weights=weights, gradient=[each[updates] for each in self.gradient])

    @abstractmethod
    def at(self, x: Tensor) -> Match:
        """The match at the candidates ``x`` (updates, points, 2), differentiable in them.

        A single row of candidates is evaluated for all updates.
        """


@dataclass(frozen=True)
class Matching(Objective):
    """For a dense network, whose J is never formed."""

    network: Network

    @classmethod
    def of(
        cls, network: Network, weights: Sequence[Floats], gradients: Sequence[NDArray[np.float64]]
    ) -> "Matching":
        """From flat vectors, one pair per update."""
        rows, leaked = (torch.from_numpy(np.stack(each)) for each in (weights, gradients))
        return cls.of_rows(network, rows.double(), leaked)

    @classmethod
    def of_rows(cls, network: Network, weights: Tensor, gradients: Tensor) -> "Matching":
        """From float64 rows on any device; a single row of weights is shared by all updates."""
        unit = at_length_1(gradients)
        return cls(blocks_of(network, weights), blocks_of(network, unit), network)

    def at(self, x: Tensor) -> Match:
        """Three matrix products per candidate."""
        found = factors(self.network, self.weights, x)
        length = found.squared_norm().clamp_min(torch.finfo(x.dtype).tiny).sqrt()
        return Match(found.signal, found.inner(self.gradient) / length)


def at_length_1(gradients: Tensor) -> Tensor:
    """Rows of length 1, because the length of G does not matter; a row of zeros stays."""
    lengths = gradients.norm(dim=1, keepdim=True)
    return gradients / torch.where(lengths > 0, lengths, 1.0)
