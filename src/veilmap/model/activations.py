"""Activation functions, in place, and their derivatives read off their own output."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

_aten = torch.ops.aten


@dataclass(frozen=True)
class Activation:
    """``apply_(z)`` overwrites z with h; ``pull_back_(grad, h)`` multiplies grad by ∂h/∂z."""

    apply_: Callable[[Tensor], Tensor]
    pull_back_: Callable[[Tensor, Tensor], Tensor]


ACTIVATIONS: dict[str, Activation] = {
    "relu": Activation(
        torch.relu_,
        lambda grad, h: _aten.threshold_backward.grad_input(grad, h, 0, grad_input=grad),
    ),
    "sigmoid": Activation(
        torch.sigmoid_,
        lambda grad, h: _aten.sigmoid_backward.grad_input(grad, h, grad_input=grad),
    ),
    "tanh": Activation(
        torch.tanh_,
        lambda grad, h: _aten.tanh_backward.grad_input(grad, h, grad_input=grad),
    ),
    "elu": Activation(
        lambda z: torch.nn.functional.elu_(z),
        lambda grad, h: _aten.elu_backward.grad_input(grad, 1, 1, 1, True, h, grad_input=grad),
    ),
}
