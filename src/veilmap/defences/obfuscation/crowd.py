"""The people among whom the adversary must find the author of a record."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.defences.obfuscation.standard_area import StandardArea

BATCH_ROWS = 256


@dataclass(frozen=True, eq=False)
class RecordBatch:
    """Records with the number of their user; the first ``own`` rows are of real people."""

    records: Tensor
    users: Tensor
    own: int


@dataclass(frozen=True, eq=False)
class Crowd:
    """The records (x, y, label) of each person, standardised.

    Mini-batches draw everybody equally often and with replacement, however many records each has:
    so a blind guess of the user is right once in K times, and a person with one record counts.

    A single person is distinguished from a stand-in crowd, half of each mini-batch: uniform
    positions in the public area with labels drawn from the person's own. A phone has no others.
    """

    people: Sequence[Tensor]
    area: StandardArea

    @property
    def users(self) -> int:
        """K, how many the adversary chooses from."""
        return max(len(self.people), 2)

    @property
    def blind_user_loss(self) -> float:
        """The cross entropy of a guess that sees nothing: log K."""
        return log(self.users)

    @cached_property
    def blind_position_loss(self) -> float:
        """The squared error of the best guess that sees nothing: the variance of the positions."""
        means = torch.stack([person[:, :2].mean(0) for person in self.people])
        centre = means.mean(0)
        errors = [((person[:, :2] - centre) ** 2).sum(1).mean() for person in self.people]
        return float(torch.stack(errors).mean())

    def mini_batch(self, draw: np.random.Generator) -> RecordBatch:
        """``BATCH_ROWS`` records, of the people alone or half of them of the stand-in crowd."""
        if len(self.people) > 1:
            users = draw.integers(len(self.people), size=BATCH_ROWS)
            return RecordBatch(self._drawn(users, draw), torch.from_numpy(users), BATCH_ROWS)
        users = np.arange(BATCH_ROWS) // (BATCH_ROWS // 2)
        records = self._drawn(np.zeros_like(users), draw)
        records[BATCH_ROWS // 2 :, :2] = self.area.uniform(BATCH_ROWS // 2, draw)
        return RecordBatch(records, torch.from_numpy(users), BATCH_ROWS // 2)

    def _drawn(self, users: NDArray[np.int64], draw: np.random.Generator) -> Tensor:
        counts = np.array([len(person) for person in self.people])
        rows = (np.cumsum(counts) - counts)[users] + draw.integers(counts[users])
        return self._all[torch.from_numpy(rows)]

    @cached_property
    def _all(self) -> Tensor:
        return torch.cat(list(self.people))
