"""Optimisers, for one coordinate as a number or for many dummy locations as a tensor."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

# Adam's usual constants: β1, β2 and ε.
DECAY, SQUARE_DECAY, LEAST = 0.9, 0.999, 1e-8

OptimiserName = Literal["sgd", "adam"]
Coordinate = TypeVar("Coordinate", float, "Tensor")


class Sgd:
    """x' ← x' − η∇D, as Algorithm 2 is written."""

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate

    def step(self, x: Coordinate, gradient: Coordinate) -> Coordinate:
        """Line 5."""
        return x - self.learning_rate * gradient


class Adam:
    """Adam with its usual constants: the size of a step hardly depends on that of the gradient."""

    def __init__(self, learning_rate: float) -> None:
        self.learning_rate = learning_rate
        self._steps = 0
        self._mean: Any = 0.0
        self._square: Any = 0.0

    def step(self, x: Coordinate, gradient: Coordinate) -> Coordinate:
        """Bias-corrected, as published."""
        self._steps += 1
        # A product, because the power of a large number raises instead of giving infinity.
        squared = gradient * gradient
        self._mean = DECAY * self._mean + (1 - DECAY) * gradient
        self._square = SQUARE_DECAY * self._square + (1 - SQUARE_DECAY) * squared
        mean = self._mean / (1 - DECAY**self._steps)
        square = self._square / (1 - SQUARE_DECAY**self._steps)
        moved: Coordinate = x - self.learning_rate * mean / (square**0.5 + LEAST)
        return moved


# x' ← step(x', ∇D), each coordinate by itself.
Optimiser = Sgd | Adam
MakeOptimiser = Callable[[], Optimiser]
OPTIMISERS: dict[OptimiserName, type[Optimiser]] = {"sgd": Sgd, "adam": Adam}
