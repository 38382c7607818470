"""Inverted dropout, drawn as the few units that are dropped, many steps at a time."""

from collections.abc import Iterator, Sequence
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
        indices = _bernoulli(count * units, share, generator)
        ends = np.searchsorted(indices, units * np.arange(1, count + 1)).tolist()
        within = torch.from_numpy(indices % units)
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            yield within[start:end]


def _bernoulli(units: int, share: float, generator: np.random.Generator) -> NDArray[np.int64]:
    """The indices at which ``units`` independent coins of probability ``share`` fall.

    The gaps between them are geometric: 1 + ⌊E/λ⌋ with E exponential and λ = −ln(1−share). At 5 %
    that is one draw where tossing every coin takes twenty.
    """
    rate = -log1p(-share)
    enough = int(units * share + 6 * sqrt(units * share)) + 8
    parts: list[NDArray[np.int64]] = []
    last = -1
    while last < units:
        gaps = np.minimum(generator.standard_exponential(enough) / rate, units).astype(np.int64) + 1
        parts.append(last + np.cumsum(gaps))
        last = int(parts[-1][-1])
    indices = np.concatenate(parts)
    return indices[: np.searchsorted(indices, units)]
