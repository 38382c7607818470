"""Coordinate-wise aggregation that tolerates a few broken or hostile phones.

Yin et al., "Byzantine-Robust Distributed Learning: Towards Optimal Statistical Rates" (2018),
Definitions 1 and 2.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError
from veilmap.model.network import Floats
from veilmap.wording import counted

# Every coordinate needs the updates of all users, so they are held until the round's end; ten
# thousand of the paper's network are 5.8 GB.
MOST_BYTES = 4 * 2**30
# Numbers that are sorted at once, so that their copies are small beside the updates.
AT_ONCE = 2**22

CombineRule = Callable[[NDArray[np.float64]], NDArray[np.float64]]  # (users, weights) → (weights,)


def median(updates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Definition 1: of an even number of users, the mean of the two in the middle."""
    return np.asarray(np.median(updates, axis=0))


def trimmed_mean(share: float) -> CombineRule:
    """Definition 2: the mean without the β·m largest and the β·m smallest of m values."""

    def rule(updates: NDArray[np.float64]) -> NDArray[np.float64]:
        cut = trimmed(share, len(updates))
        return np.asarray(np.sort(updates, axis=0)[cut : len(updates) - cut].mean(axis=0))

    return rule


def trimmed(share: float, users: int) -> int:
    """How many of so many users are left out at each end."""
    # A hair is added because 0.29 · 100 is 28.999… in binary.
    return int(share * users + 1e-9)


class Gathered:
    """Holds a round's updates until its end, and takes each coordinate of w_t by a rule.

    Every user counts the same. The weights n_t^k/n_t of Algorithm 1 are for the mean: a hostile
    phone says of itself how many points it has.

    Raises:
        UserError: ``senders``, the users who may send, are more than fit into memory.
    """

    def __init__(self, weights_before: Floats, rule: CombineRule, senders: int) -> None:
        if senders * weights_before.nbytes > MOST_BYTES:
            held = f"{senders * weights_before.nbytes / 2**30:.1f} GB of {counted(senders, 'user')}"
            raise UserError(
                "median and trimmed mean hold all updates of a round, and at most "
                f"{MOST_BYTES / 2**30:.0f} GB, got {held}; lower --fraction or take "
                "--aggregation mean"
            )
        self._before, self._rule = weights_before, rule
        self._updates: list[Floats] = []
        self.n: dict[str, int] = {}

    def add(self, user: str, weights: Floats, n: int) -> None:
        """w_t^k; n_t^k is kept for the record."""
        self.n[user] = n
        self._updates.append(weights)

    def weights(self) -> Floats:
        """w_t; w_{t-1} if no user sends."""
        if not self._updates:
            return self._before
        step = max(AT_ONCE // len(self._updates), 1)
        parts = [self._part(slice(i, i + step)) for i in range(0, len(self._before), step)]
        return np.concatenate(parts)

    def _part(self, where: slice) -> Floats:
        # In float64, as the weighted average.
        some = np.stack([each[where] for each in self._updates], dtype=np.float64)
        return self._rule(some).astype(np.float32)
