"""Steps downhill for many dummy locations at once, of which some drop out on the way."""

from collections.abc import Callable
from typing import Literal, Protocol

import torch
from torch import Tensor

OptimiserName = Literal["sgd", "adam"]


class Optimiser(Protocol):
    """x' ← step(x', ∇D)."""

    def step(self, x: Tensor, gradient: Tensor) -> Tensor:
        """The next dummy locations."""

    def keep(self, updates: Tensor) -> None:
        """Go on with some of the updates only."""


class Sgd:
    """x' ← x' − η∇D, as Algorithm 2 is written."""

    def __init__(self, learning_rate: float) -> None:
        self._learning_rate = learning_rate

    def step(self, x: Tensor, gradient: Tensor) -> Tensor:
        """Line 5."""
        return x - self._learning_rate * gradient

    def keep(self, updates: Tensor) -> None:
        """It remembers nothing."""


class Adam:
    """Adam with its usual constants: the size of a step hardly depends on that of the gradient."""

    _DECAY, _SQUARE_DECAY, _LEAST = 0.9, 0.999, 1e-8

    def __init__(self, learning_rate: float) -> None:
        self._learning_rate = learning_rate
        self._steps = 0
        self._mean = self._square = torch.zeros(())

    def step(self, x: Tensor, gradient: Tensor) -> Tensor:
        """Bias-corrected, as published."""
        self._steps += 1
        if self._steps == 1:
            self._mean = self._square = torch.zeros_like(x)
        self._mean = self._DECAY * self._mean + (1 - self._DECAY) * gradient
        self._square = self._SQUARE_DECAY * self._square + (1 - self._SQUARE_DECAY) * gradient**2
        mean = self._mean / (1 - self._DECAY**self._steps)
        square = self._square / (1 - self._SQUARE_DECAY**self._steps)
        return x - self._learning_rate * mean / (square.sqrt() + self._LEAST)

    def keep(self, updates: Tensor) -> None:
        """Forget the others."""
        self._mean, self._square = self._mean[updates], self._square[updates]


OPTIMISERS: dict[OptimiserName, Callable[[float], Optimiser]] = {"sgd": Sgd, "adam": Adam}
