"""Algorithm 2 line by line with automatic differentiation, as plain as it can be written.

``dlg`` does the same on layer factors, and much faster; tests hold them together.
This is also the usual way to invert gradients: back-propagation through a back-propagation.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.model.network import Network
from veilmap.model.reference import forward


def cosine(
    network: Network, weights: Tensor, gradient: Tensor, x: Tensor, y: Tensor, *, again: bool
) -> Tensor:
    """cos(∇w, ∇w') for one dummy point; ``again`` allows a derivative in (x', y')."""
    nothing = [None] * len(network.hidden)
    loss = (forward(network, weights, x[None], nothing)[0] - y) ** 2
    (dummy,) = torch.autograd.grad(loss, weights, create_graph=again)  # line 3
    match: Tensor = gradient @ dummy / (gradient.norm() * dummy.norm())
    return match


@dataclass(frozen=True)
class ReferencePath:
    """x'_0 … x'_m (standardised), and the cosine at each but the last."""

    xy_std: NDArray[np.float64]
    cosine: NDArray[np.float64]


def algorithm_2(
    network: Network,
    weights: NDArray[np.floating],
    gradient: NDArray[np.floating],
    start: tuple[NDArray[np.floating], float],
    *,
    learning_rate: float,
    iterations: int,
    optimiser: type[torch.optim.SGD] | type[torch.optim.Adam] = torch.optim.SGD,
) -> ReferencePath:
    """The dummy location through ``iterations`` steps from ``start`` = (x'_0, y'_0)."""
    w = torch.tensor(np.asarray(weights, np.float64), requires_grad=True)
    target = torch.tensor(np.asarray(gradient, np.float64))
    x = torch.tensor(np.asarray(start[0], np.float64), requires_grad=True)  # line 1
    y = torch.tensor(float(start[1]), dtype=torch.float64, requires_grad=True)
    steps = optimiser([x, y], lr=learning_rate)
    path, cosines = [x.detach().numpy().copy()], []
    for _ in range(iterations):  # line 2
        steps.zero_grad()
        match = cosine(network, w, target, x, y, again=True)
        x.grad, y.grad = torch.autograd.grad(1 - match, (x, y))  # line 4
        steps.step()  # line 5
        path.append(x.detach().numpy().copy())
        cosines.append(match.item())
    return ReferencePath(np.array(path), np.array(cosines))
