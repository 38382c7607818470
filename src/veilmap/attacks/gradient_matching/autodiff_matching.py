"""The objective of Algorithm 2 for any torch module, by automatic differentiation.

``Matching`` has J(x') = ∂F/∂w of a dense network from layer factors and never forms it. Of another
module it is formed, candidate by candidate: slow, and right for every module that torch can
differentiate. The search and the descent see no difference.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from veilmap.attacks.gradient_matching.matching import Match, Objective, at_length_1

# Numbers of J that are formed at once.
_NUMBERS = 2**24


@dataclass(frozen=True)
class AutodiffMatching(Objective):
    """For any torch module; flat rows (updates, W) are the only block."""

    module: nn.Module

    @classmethod
    def of_rows(cls, module: nn.Module, weights: Tensor, gradients: Tensor) -> "AutodiffMatching":
        """From float64 rows; a single row of weights is shared by all updates."""
        return cls([weights], [at_length_1(gradients)], module.eval())

    def at(self, x: Tensor) -> Match:
        """One update after the other."""
        (weights,), (gradient,) = self.weights, self.gradient
        count = len(gradient)
        rows = zip(weights.expand(count, -1), gradient, x.expand(count, -1, -1), strict=True)
        found = [self._of_one(*one) for one in rows]
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
        shapes = {name: each.shape for name, each in self.module.named_parameters()}
        parts = torch.split(weights, [shape.numel() for shape in shapes.values()])
        named = {name: part.view(shapes[name]) for name, part in zip(shapes, parts, strict=True)}
        found: Tensor = functional_call(self.module, named, (x[None],))
        return found.reshape(())
