"""Steps downhill, for one coordinate as a number or for many dummy locations as a tensor."""

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeVar

from torch import Tensor

OptimiserName = Literal["sgd", "adam"]
Place = TypeVar("Place", float, Tensor)


class Optimiser(Protocol):
    """x' ← step(x', ∇D), each coordinate by itself."""

    def step(self, x: Place, gradient: Place) -> Place:
        """The next dummy locations."""


class Sgd:
    """x' ← x' − η∇D, as Algorithm 2 is written."""

    def __init__(self, learning_rate: float) -> None:
        self._learning_rate = learning_rate

    def step(self, x: Place, gradient: Place) -> Place:
        """Line 5."""
        return x - self._learning_rate * gradient


class Adam:
    """Adam with its usual constants: the size of a step hardly depends on that of the gradient."""

    _DECAY, _SQUARE_DECAY, _LEAST = 0.9, 0.999, 1e-8

    def __init__(self, learning_rate: float) -> None:
        self._learning_rate = learning_rate
        self._steps = 0
        self._mean: Any = 0.0
        self._square: Any = 0.0

    def step(self, x: Place, gradient: Place) -> Place:
        """Bias-corrected, as published."""
        self._steps += 1
        # A product, for the power of a large number is an error, not infinity.
        squared = gradient * gradient
        self._mean = self._DECAY * self._mean + (1 - self._DECAY) * gradient
        self._square = self._SQUARE_DECAY * self._square + (1 - self._SQUARE_DECAY) * squared
        mean = self._mean / (1 - self._DECAY**self._steps)
        square = self._square / (1 - self._SQUARE_DECAY**self._steps)
        moved: Place = x - self._learning_rate * mean / (square**0.5 + self._LEAST)
        return moved


OPTIMISERS: dict[OptimiserName, Callable[[float], Optimiser]] = {"sgd": Sgd, "adam": Adam}
