"""Inverted dropout, drawn as the few units that are dropped, many steps at a time."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log1p, sqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.model.network import Network

# Per hidden layer: flat indices into (rows, width) of the dropped units; None drops nothing.
Dropped = Sequence[Tensor | None]

# Units decided in one go. Numpy's cost per call is far above its cost per number, and worst
# between two matrix products that have just emptied the caches.
UNITS_AHEAD = 1 << 19
# Steps whose indices are found in one go.
STEPS_AHEAD = 8

_NONE = np.zeros(0, np.int64)


def of_rows(dropped: Dropped, widths: Sequence[int], rows: slice) -> Dropped:
    """The part of ``dropped`` that falls on some rows, counted from the first of them."""
    parts: list[Tensor | None] = []
    for units, width in zip(dropped, widths, strict=True):
        if units is None:
            parts.append(None)
            continue
        bounds = torch.tensor([rows.start * width, rows.stop * width])
        start, end = torch.searchsorted(units, bounds).tolist()
        parts.append(units[start:end] - rows.start * width)
    return parts


class Dropout:
    """Which units of each hidden layer are dropped, step after step, all from one generator."""

    def __init__(self, network: Network, generator: np.random.Generator) -> None:
        self._layers = list(zip(network.hidden, network.dropout, strict=True))
        self._generator = generator
        self._ahead: dict[int, list[Iterator[Tensor] | None]] = {}

    def draw(self, rows: int) -> Dropped:
        """For the next batch of ``rows``."""
        if rows not in self._ahead:
            self._ahead[rows] = [
                _steps(rows * width, share, self._generator) if share else None
                for width, share in self._layers
            ]
        return [None if steps is None else next(steps) for steps in self._ahead[rows]]


def _steps(units: int, share: float, generator: np.random.Generator) -> Iterator[Tensor]:
    """For one step after another, the indices of the dropped ones of ``units`` units."""
    count = max(UNITS_AHEAD // units, 1)
    while True:
        some = int(1.1 * STEPS_AHEAD * units * share) + 8
        dropped, known = _bernoulli(count * units, share, generator, some), _NONE
        for first in range(0, count, STEPS_AHEAD):
            ends = units * np.arange(first + 1, min(first + STEPS_AHEAD, count) + 1)
            while not len(known) or known[-1] < ends[-1]:
                known = np.concatenate([known, next(dropped)])
            cuts = np.searchsorted(known, ends).tolist()
            for step, (start, end) in enumerate(pairwise([0, *cuts]), first):
                yield torch.from_numpy(known[start:end] - step * units)
            known = known[end:]


def _bernoulli(
    units: int, share: float, generator: np.random.Generator, some: int
) -> Iterator[NDArray[np.int64]]:
    """Indices of the successes in ``units`` Bernoulli trials of probability ``share``, and more.

    The gaps between successes are geometric: 1 + ⌊E/λ⌋ with E exponential and λ = −ln(1−share). At
    5 % that is one draw in place of twenty. All E are drawn at the first call, but the indices are
    computed in blocks of ``some``, so that blocks that are not used cost nothing.
    """
    rate, last = -log1p(-share), -1
    enough = int(units * share + 6 * sqrt(units * share)) + 8
    drawn = generator.standard_exponential(enough)
    # The sum of E/λ, below that of the gaps, is a faster test that mostly suffices.
    while drawn.sum() / rate <= units + 1 and _gaps(drawn, rate, units).sum() <= units:
        drawn = np.concatenate([drawn, generator.standard_exponential(enough)])
    for start in range(0, len(drawn), some):
        part = last + np.cumsum(_gaps(drawn[start : start + some], rate, units))
        last = int(part[-1])
        yield part


def _gaps(exponentials: NDArray[np.float64], rate: float, most: int) -> NDArray[np.int64]:
    return np.minimum(exponentials / rate, most).astype(np.int64) + 1
