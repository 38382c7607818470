"""Which updates a server takes: a broken or hostile phone must not spoil the map."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veilmap.defences.declarations import noise_std
from veilmap.defences.step import Step
from veilmap.errors import out_of_range, refuse, too_low
from veilmap.federation.map_family import Arrays
from veilmap.model.network import Network
from veilmap.wording import counted

NOT_FINITE = "numbers that are not finite"


@dataclass(frozen=True)
class Refusal:
    """Why an update has no part in the average.

    ``is_seen`` where it is an update all the same: a curious server reads also what it does not
    take. NaN, infinity and vectors of another length hold nothing to read.
    """

    why: str
    is_seen: bool = False


@dataclass(frozen=True)
class UpdateLimits:
    """What an update must satisfy, apart from being finite and of the network's shape.

    Attributes:
        most_norm: the longest update, |w_t^k − w_{t-1}|; infinity takes any.
        most_points: the largest n_t^k; it is the update's weight in the average.
    """

    most_norm: float = 100.0
    most_points: int = 100_000

    def __post_init__(self) -> None:
        if not self.most_norm > 0:
            raise out_of_range("most_norm", "above 0", self.most_norm)
        refuse(too_low(1, most_points=self.most_points))

    def refusal(self, message: Arrays, n: int, state: Arrays) -> Refusal | None:
        """Of a message made from n_t^k points of a state; None if it is taken."""
        for name, known in state.items():
            shape = message[name].shape if name in message else None
            if shape != known.shape:
                return Refusal(f"{name} of shape {shape}, and the map has {known.shape}")
        if not all(np.isfinite(sent).all() for sent in message.values()):
            return Refusal(NOT_FINITE)
        if not 1 <= n <= self.most_points:
            return Refusal(f"{counted(n, 'point')}, and 1 to {self.most_points:,} are taken")
        norm = self._norm(message, state)
        if norm > self.most_norm:
            why = f"an update of length {norm:.3g}, above the {self.most_norm:g} of --most-norm"
            return Refusal(why, is_seen=True)
        return None

    def _norm(self, message: Arrays, state: Arrays) -> float:
        # Without a limit the norm is not needed; training on few points takes hardly longer.
        if self.most_norm == math.inf:
            return 0.0
        lengths = [
            float(np.linalg.norm(sent.astype(np.float64) - state.get(name, 0.0)))
            for name, sent in message.items()
        ]
        return math.hypot(*lengths)


# In one process: honest phones are as long as their settings make them, and none is hostile.
ANY_FINITE = UpdateLimits(math.inf, sys.maxsize)


def usual_norm(network: Network, steps: Sequence[Step]) -> float:
    """A limit where these steps are known to be taken: that without noise, and twice the noise.

    Updates of the paper's settings are 0.3 to 7 long; noise is σ√d long, whatever it hides.
    """
    return UpdateLimits.most_norm + 2 * sum(
        noise_std(step) * math.sqrt(network.size) for step in steps
    )
