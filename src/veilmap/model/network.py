"""A dense network described as data, and its weights as one flat vector."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import Checked, UserError, not_among, out_of_range, unknown_choice
from veilmap.streams import stream

INPUTS = 2  # the position (x, y)
MAX_WEIGHTS = 50_000_000
MAX_WIDTH = 10_000
MAX_LAYERS = 32
Initialisation = Literal["glorot", "pytorch"]
ActivationName = Literal["relu", "sigmoid", "tanh", "elu"]
ACTIVATION_NAMES: tuple[ActivationName, ...] = get_args(ActivationName)

Floats = NDArray[np.float32]
MiniBatch = tuple[Floats, Floats]  # standardised positions, labels
Vectors = TypeVar("Vectors", bound=Any)  # arrays or tensors


@dataclass(frozen=True)
class Network(Checked):
    """y = F(x; w), position to signal: dense layers with an activation and dropout after each.

    The default is the paper's network: 2 → 224 ReLU → dropout 5 % → 640 sigmoid → dropout 5 % → 1.

    Attributes:
        hidden: the width of each hidden layer.
        activations: one per hidden layer.
        dropout: the share of units dropped after each hidden layer.
        initialisation: glorot as in Keras, the authors' tuner; or PyTorch's default.
    """

    hidden: tuple[int, ...] = (224, 640)
    activations: tuple[ActivationName, ...] = ("relu", "sigmoid")
    dropout: tuple[float, ...] = (0.05, 0.05)
    initialisation: Initialisation = "glorot"

    def _faults(self) -> Iterator[UserError]:
        counts = len(self.hidden), len(self.activations), len(self.dropout)
        if not self.hidden or len(set(counts)) > 1:
            yield UserError(
                "hidden, activations and dropout need one entry per hidden layer, "
                f"got {counts[0]}, {counts[1]} and {counts[2]} entries"
            )
        if len(self.hidden) > MAX_LAYERS:
            yield out_of_range("the number of hidden layers", f"at most {MAX_LAYERS}", counts[0])
        for width in (width for width in self.hidden if not 1 <= width <= MAX_WIDTH):
            yield out_of_range("the width of a hidden layer", f"from 1 to {MAX_WIDTH:,}", width)
        for name in set(self.activations) - set(ACTIVATION_NAMES):
            yield unknown_choice("activation", name, ACTIVATION_NAMES)
        for share in self.dropout:
            if not 0 <= share <= 0.99:
                yield out_of_range("a dropout share", "from 0 to 0.99", share)
        if self.size > MAX_WEIGHTS:
            yield UserError(
                f"a network of {self.size:,} weights is too large for a phone; "
                f"keep it under {MAX_WEIGHTS:,} with smaller hidden layers"
            )
        yield from not_among("initialisation", self.initialisation, get_args(Initialisation))

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The (outputs, inputs) of each weight matrix."""
        widths = (INPUTS, *self.hidden, 1)
        return tuple(zip(widths[1:], widths[:-1], strict=True))

    @property
    def size(self) -> int:
        """The number of weights and biases; 145,313 in the paper's network."""
        return sum(outputs * (inputs + 1) for outputs, inputs in self.shapes)

    @property
    def is_piecewise(self) -> bool:
        """Two hidden layers, the first of ReLU: what compiled training and attacks are made for."""
        return len(self.hidden) == 2 and self.activations[0] == "relu"

    def layers(self, weights: Vectors) -> list[tuple[Vectors, Vectors]]:
        """Views (W_l, b_l) into the flat vector: W_l row by row, then b_l, layer after layer.

        Of several vectors, row by row, those of each; they may be tensors too.
        """
        views, start = [], 0
        for outputs, inputs in self.shapes:
            middle, end = start + outputs * inputs, start + outputs * (inputs + 1)
            matrix = weights[..., start:middle].reshape(*weights.shape[:-1], outputs, inputs)
            views.append((matrix, weights[..., middle:end]))
            start = end
        return views

    def initialise(self, seed: int) -> Floats:
        """w_0 of Algorithm 1, line 3."""
        generator = stream(seed, "initialisation")
        weights: Floats = np.zeros(self.size, np.float32)
        for matrix, bias in self.layers(weights):
            outputs, inputs = matrix.shape
            if self.initialisation == "glorot":
                limit = np.sqrt(6 / (inputs + outputs))
            else:
                limit = 1 / np.sqrt(inputs)
                bias[:] = generator.uniform(-limit, limit, bias.shape)
            matrix[:] = generator.uniform(-limit, limit, matrix.shape)
        return weights
