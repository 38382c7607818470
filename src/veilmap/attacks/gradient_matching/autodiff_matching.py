"""The objective of Algorithm 2 for any torch module, by automatic differentiation.

``Matching`` has J(x') = ∂F/∂w of a dense network from layer factors and never forms it. Of another
module it is formed, candidate by candidate: slow, and right for every module that torch can
differentiate. The search and the descent see no difference.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from veilmap.attacks.gradient_matching.matching import Match

# Numbers of J that are formed at once.
_NUMBERS = 2**24


@dataclass(frozen=True)
class AutodiffMatching:
    """The objective for several updates at once, at weights that they share or of their own.

    ``weights`` and ``gradient`` are flat rows, (updates, W); a single row of weights is shared.
    """

    module: nn.Module
    weights: Tensor
    gradient: Tensor

    @classmethod
    def of_rows(cls, module: nn.Module, weights: Tensor, gradients: Tensor) -> "AutodiffMatching":
        """From float64 rows; the length of G does not matter, it becomes 1."""
        lengths = gradients.norm(dim=1, keepdim=True)
        unit = gradients / torch.where(lengths > 0, lengths, 1.0)
        return cls(module.eval(), weights, unit)

    @property
    def dtype(self) -> torch.dtype:
        return self.weights.dtype

    @property
    def device(self) -> torch.device:
        return self.weights.device

    def to(self, dtype: torch.dtype) -> "AutodiffMatching":
        """The same in another precision."""
        return replace(self, weights=self.weights.to(dtype), gradient=self.gradient.to(dtype))

    def tensor(self, values: Any) -> Tensor:
        """Numbers in this precision, on this device."""
        return torch.tensor(values, dtype=self.dtype, device=self.device)

    def keep(self, updates: Tensor) -> "AutodiffMatching":
        """Only some of the updates."""
        weights = self.weights if len(self.weights) == 1 else self.weights[updates]
        return replace(self, weights=weights, gradient=self.gradient[updates])

    def at(self, x: Tensor) -> Match:
        """The match at the candidates ``x`` (updates, points, 2), differentiable in them."""
        count = len(self.gradient)
        x = x.expand(count, -1, -1)
        weights = self.weights.expand(count, -1)
        found = [self._of_one(*one) for one in zip(weights, self.gradient, x, strict=True)]
        signals, cosines = zip(*found, strict=True)
        return Match(torch.stack(signals), torch.stack(cosines))

    def _of_one(self, weights: Tensor, gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """F(x') and cos(G, J(x')) of one update at all its candidates."""
        at_once = max(_NUMBERS // len(weights), 1)
        parts = [
            vmap(grad_and_value(self._signal), in_dims=(None, 0), randomness="error")(weights, some)
            for some in torch.split(x, at_once)
        ]
        rows, signals = (torch.cat(each) for each in zip(*parts, strict=True))
        lengths = rows.norm(dim=1).clamp_min(torch.finfo(rows.dtype).tiny)
        return signals, rows @ gradient / lengths

    def _signal(self, weights: Tensor, x: Tensor) -> Tensor:
        """F(x; w) at one place, from flat weights."""
        found: Tensor = functional_call(self.module, self._parameters(weights), (x[None],))
        return found.reshape(())

    def _parameters(self, weights: Tensor) -> dict[str, Tensor]:
        named = dict(self.module.named_parameters())
        parts = torch.split(weights, [each.numel() for each in named.values()])
        return {
            name: part.reshape(named[name].shape) for name, part in zip(named, parts, strict=True)
        }
