"""A small dense network whose weights are one flat vector, and its optimiser."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear


@dataclass(frozen=True, eq=False)
class Dense:
    """Linear layers with a ReLU between them; ``layers`` are views (W, b) into ``weights``."""

    weights: Tensor
    layers: tuple[tuple[Tensor, Tensor], ...]

    @classmethod
    def drawn(cls, widths: Sequence[int], draw: np.random.Generator, last: float = 1.0) -> "Dense":
        """Glorot's uniform weights and biases of 0; those of the last layer times ``last``."""
        shapes = list(zip(widths[1:], widths[:-1], strict=True))
        weights = torch.zeros(sum(outputs * (inputs + 1) for outputs, inputs in shapes))
        layers, start = [], 0
        for outputs, inputs in shapes:
            middle, end = start + outputs * inputs, start + outputs * (inputs + 1)
            limit = np.sqrt(6 / (inputs + outputs)) * (last if end == len(weights) else 1.0)
            weights[start:middle] = torch.from_numpy(draw.uniform(-limit, limit, middle - start))
            matrix, bias = weights[start:middle].view(outputs, inputs), weights[middle:end]
            layers.append((matrix.requires_grad_(), bias.requires_grad_()))
            start = end
        return cls(weights, tuple(layers))

    @property
    def parts(self) -> list[Tensor]:
        """All W and b in the order in which they stand in ``weights``."""
        return [part for layer in self.layers for part in layer]

    def __call__(self, x: Tensor) -> Tensor:
        """The output of the last layer, which has no activation."""
        *hidden, (last, last_bias) = self.layers
        for matrix, bias in hidden:
            x = torch.relu(linear(x, matrix, bias))
        return linear(x, last, last_bias)


class DenseAdam:
    """Adam on the flat weights of a network, in place.

    The mean of the gradients decays with 0.5 in place of the usual 0.9: two networks that play
    against each other settle sooner with the shorter memory.

    torch's own Adam imports a compiler when it is constructed, which takes seconds, and it rounds
    differently; so does the attack's, which takes steps of single coordinates as well.
    """

    _RATE, _DECAY, _SQUARE_DECAY, _LEAST = 1e-3, 0.5, 0.999, 1e-8

    def __init__(self, network: Dense) -> None:
        self._network = network
        self._mean = torch.zeros_like(network.weights)
        self._square = torch.zeros_like(network.weights)
        self._steps = 0

    def descend(self, loss: Tensor) -> None:
        """One step down the gradient of ``loss``, bias-corrected, as published."""
        parts = torch.autograd.grad(loss, self._network.parts)
        gradient = torch.cat([part.reshape(-1) for part in parts])
        self._steps += 1
        self._mean.lerp_(gradient, 1 - self._DECAY)
        self._square.lerp_(gradient**2, 1 - self._SQUARE_DECAY)
        root = (self._square / (1 - self._SQUARE_DECAY**self._steps)).sqrt() + self._LEAST
        rate = self._RATE / (1 - self._DECAY**self._steps)
        self._network.weights.addcdiv_(self._mean, root, value=-rate)
