"""Inverted dropout, drawn as raw random bits."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from veilmap.model.network import Network

Masks = Sequence[Tensor | None]

_LEVELS = 1 << 16


class Dropout:
    """Masks for one step after another, all from one generator.

    A unit is dropped when its 16 random bits are among the share·2^16 lowest: met to 2^-17;
    the scale of the kept ones uses the share really met, which keeps the expectation exact.
    """

    def __init__(self, network: Network, generator: np.random.Generator | None) -> None:
        self._shares = list(zip(network.hidden, network.dropout, strict=True))
        self._generator = generator if any(network.dropout) else None
        self._masks: dict[int, list[Tensor]] = {}

    def draw(self, rows: int) -> Masks:
        """One mask per hidden layer, (rows, width): 0 for a dropped unit, else 1/(1-share).

        None without a generator. The next masks for as many rows overwrite these.
        """
        if self._generator is None:
            return [None] * len(self._shares)
        if rows not in self._masks:
            self._masks[rows] = [torch.empty(rows, width) for width, _ in self._shares]
        units = rows * sum(width for width, _ in self._shares)
        words = self._generator.bit_generator.random_raw(-(-units // 4))
        bits = torch.from_numpy(words.view(np.int16))
        for (_, share), mask in zip(self._shares, self._masks[rows], strict=True):
            dropped = round(share * _LEVELS)
            torch.ge(bits[: mask.numel()].view_as(mask), dropped - _LEVELS // 2, out=mask)
            mask.mul_(_LEVELS / (_LEVELS - dropped))
            bits = bits[mask.numel() :]
        return self._masks[rows]
