"""Iterations of Algorithm 2 for one dummy location, compiled; requires numba.

Many iterations per call: calling from Python costs as much as one slope.
"""

from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from veilmap.attacks.gradient_matching.compiled_regions import Moving, reset_if_worn, slope_at
from veilmap.attacks.gradient_matching.optimisers import (
    DECAY,
    LEAST,
    SQUARE_DECAY,
    Adam,
    MakeOptimiser,
)
from veilmap.attacks.gradient_matching.regions import Pieces
from veilmap.attacks.gradient_matching.trajectory import Location
from veilmap.model.compiling import compiled

# Iterations computed beyond the end of a trajectory are discarded.
ITERATIONS_AT_ONCE = 64


def compiled_iterates(
    pieces: Pieces, start: Location, label: float, optimiser: MakeOptimiser
) -> Iterator[Location]:
    """The locations of a descent from its start, without an end."""
    moving, x, moments = Moving.begin(pieces), np.array(start), np.zeros((2, 2))
    path, made = np.empty((ITERATIONS_AT_ONCE, 2)), optimiser()
    steps = made.learning_rate, isinstance(made, Adam)
    for done in count(0, ITERATIONS_AT_ONCE):
        _iterate(pieces, moving, x, moments, done, label, *steps, path)
        yield from map(tuple, path.tolist())


@compiled
def _iterate(
    pieces: Pieces,
    moving: Moving,
    x: NDArray[np.float64],
    moments: NDArray[np.float64],
    done: int,
    label: float,
    rate: float,
    is_adam: bool,
    path: NDArray[np.float64],
) -> None:
    """Fill ``path`` and update ``x`` and Adam's moments."""
    for iteration in range(len(path)):
        reset_if_worn(pieces, moving)
        _, rise_x, rise_y = slope_at(pieces, moving, (x[0], x[1]), label)
        for axis in range(2):
            gradient = -(rise_x if axis == 0 else rise_y)
            if is_adam:
                x[axis] -= rate * _adam(moments[axis], gradient, done + iteration + 1)
            else:
                x[axis] -= rate * gradient
            path[iteration, axis] = x[axis]


@compiled
def _adam(moments: NDArray[np.float64], gradient: float, steps: int) -> float:
    """The step of ``Adam`` in units of its learning rate."""
    moments[0] = DECAY * moments[0] + (1 - DECAY) * gradient
    moments[1] = SQUARE_DECAY * moments[1] + (1 - SQUARE_DECAY) * (gradient * gradient)
    mean, square = moments[0] / (1 - DECAY**steps), moments[1] / (1 - SQUARE_DECAY**steps)
    step: float = mean / (square**0.5 + LEAST)
    return step
