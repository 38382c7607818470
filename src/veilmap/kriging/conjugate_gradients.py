"""Preconditioned conjugate gradients."""

from collections.abc import Callable

import numpy as np

from veilmap.kriging.kernel import Vector

_MOST_STEPS = 2000  # a million squares take 20, or 200 in the worst noise


def conjugate_gradients(
    product: Callable[[Vector], Vector],
    precondition: Callable[[Vector], Vector],
    right: Vector,
    tolerance: float,
) -> Vector:
    """Solve a positive definite system (Saad, Iterative Methods, algorithm 9.1).

    Until the residual, in the norm of the preconditioner, is that much smaller than at first.
    """
    solution = np.zeros_like(right)
    rest = right.copy()
    step = better = precondition(rest)
    size = rest @ better
    enough = tolerance**2 * size
    for _ in range(_MOST_STEPS):
        if size <= enough:
            return solution
        image = product(step)
        length = size / (step @ image)
        solution += length * step
        rest -= length * image
        better = precondition(rest)
        size, before = rest @ better, size
        step = better + size / before * step
    raise ArithmeticError(f"no solution to {tolerance} in {_MOST_STEPS} steps")
