"""The objective of Algorithm 2 for any torch module, by automatic differentiation.

``Matching`` has J(x') = ∂F/∂w of a dense network from layer factors and never forms it. Of another
module it is formed, candidate by candidate: slow, and right for every module that torch can
differentiate. The search and the descent see no difference.

Parameters that are frozen never move, so they have no part in G, in J and in their lengths.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from veilmap.attacks.gradient_matching.matching import Match, Objective, at_length_1
from veilmap.errors import UserError
from veilmap.maps.torch_modules import cause, refusing

# Numbers of J that are formed at once.
_NUMBERS = 2**24

NamedTensors = dict[str, Tensor]
# F(x; w) at one place, from trained parameters by name.
Signal = Callable[[NamedTensors, Tensor], Tensor]
# J and F at places (n, 2).
Form = Callable[[Signal, NamedTensors, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class AutodiffMatching(Objective):
    """For any torch module; flat rows (updates, W) are the only block of ``weights``.

    Attributes:
        module: in evaluation mode.
        form: how J is formed.
        always_single: the module computes in float32 whatever the precision of the rows.
    """

    module: nn.Module
    form: Form
    always_single: bool

    @classmethod
    def of_rows(cls, module: nn.Module, weights: Tensor, gradients: Tensor) -> "AutodiffMatching":
        """From float64 rows; a single row of weights is shared by all updates.

        The first way that works is taken: all candidates at once, which no recurrent layer and no
        branch by value allows, before one by one; and float64, which fails beside constants in
        float32 that are not buffers, before float32.

        Raises:
            UserError: none works.
        """
        parts = [torch.full((each.numel(),), each.requires_grad) for each in module.parameters()]
        trained = torch.cat(parts).to(gradients.device)
        blocks, unit = [weights], [at_length_1(gradients[:, trained])]
        for always_single, form in product((False, True), (_at_once, _one_by_one)):
            found = cls(blocks, unit, module.eval(), form, always_single)
            try:
                found.keep(torch.zeros(1, dtype=torch.int64))._at(weights.new_zeros(1, 2, 2))
            # Torch raises whatever the first layer that does not fit raises.
            except Exception as error:
                why = error
            else:
                return found
        raise UserError(
            f"the map's module cannot be differentiated ({cause(why)}); attack it with a method "
            "that needs no gradient, or change the module"
        ) from why

    def at(self, x: Tensor) -> Match:
        """One update after the other."""
        what = "the map's module failed at a position that the attack tried"
        with refusing(what, "let it take any position, or search with --inside"):
            return self._at(x)

    def _at(self, x: Tensor) -> Match:
        (weights,), (gradient,) = self.weights, self.gradient
        count = len(gradient)
        rows = zip(weights.expand(count, -1), gradient, x.expand(count, -1, -1), strict=True)
        # Back-propagation cannot use tensors of inference mode, in which a search runs; copies can.
        # Of the kernels for attention only the plain one has second derivatives.
        with torch.inference_mode(False), sdpa_kernel(SDPBackend.MATH):
            found = [self._of_one(*(each.clone() for each in row)) for row in rows]
        signals, cosines = zip(*found, strict=True)
        return Match(torch.stack(signals), torch.stack(cosines))

    def _of_one(self, weights: Tensor, gradient: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """F(x') and cos(G, J(x')) of one update at all its candidates."""
        at_once = max(_NUMBERS // len(weights), 1)
        precision = torch.float32 if self.always_single else x.dtype
        trained, constant = self._named(weights.to(precision))
        signal = partial(_signal, self.module, constant)
        parts = [self.form(signal, trained, some.to(precision)) for some in torch.split(x, at_once)]
        rows, signals = (torch.cat(each).to(x.dtype) for each in zip(*parts, strict=True))
        lengths = rows.norm(dim=1).clamp_min(torch.finfo(rows.dtype).tiny)
        return signals, rows @ gradient / lengths

    def _named(self, weights: Tensor) -> tuple[NamedTensors, NamedTensors]:
        """The parameters that were trained, and all else, in the precision of the weights."""
        trained, constant = NamedTensors(), NamedTensors()
        for name, buffer in self.module.named_buffers():
            constant[name] = buffer.to(weights.dtype) if buffer.is_floating_point() else buffer
        start = 0
        for name, parameter in self.module.named_parameters():
            part = weights[start : start + parameter.numel()].view(parameter.shape)
            (trained if parameter.requires_grad else constant)[name] = part
            start += parameter.numel()
        return trained, constant


def _signal(module: nn.Module, constant: NamedTensors, trained: NamedTensors, x: Tensor) -> Tensor:
    # A copy, because a module may write into its input.
    found: Tensor = functional_call(module, {**constant, **trained}, (x[None].clone(),))
    return found.reshape(())


def _at_once(signal: Signal, trained: NamedTensors, x: Tensor) -> tuple[Tensor, Tensor]:
    form = vmap(grad_and_value(signal), in_dims=(None, 0), randomness="error")
    with warnings.catch_warnings():
        # Of layers that torch itself takes one by one; right all the same.
        warnings.filterwarnings("ignore", "There is a performance drop")
        slopes, signals = form(trained, x)
    return torch.cat([each.flatten(1) for each in slopes.values()], 1), signals


def _one_by_one(signal: Signal, trained: NamedTensors, x: Tensor) -> tuple[Tensor, Tensor]:
    """A loop of plain back-propagation."""
    trained = {name: each.detach().requires_grad_() for name, each in trained.items()}
    rows, signals = [], []
    for place in x:
        with torch.enable_grad():
            found = signal(trained, place)
            slopes = torch.autograd.grad(
                found, list(trained.values()), create_graph=x.requires_grad, materialize_grads=True
            )
        rows.append(torch.cat([each.flatten() for each in slopes]))
        signals.append(found if x.requires_grad else found.detach())
    return torch.stack(rows), torch.stack(signals)
