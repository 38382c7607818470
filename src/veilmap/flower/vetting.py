"""Which updates a server takes: a broken or hostile node must not spoil the map."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flwr.app import Message

from veilmap.defences.dp import DifferentialPrivacy
from veilmap.defences.step import Step
from veilmap.errors import out_of_range
from veilmap.flower.messages import ARRAYS, METRICS, WEIGHTS, N, why_not
from veilmap.flower.node import Sent
from veilmap.model.network import Floats, Network


@dataclass(frozen=True)
class Vetting:
    """What an update must be like.

    Attributes:
        most_norm: the longest update, |w_t^k − w_{t-1}|.
        most_points: the largest n_t^k; it is the update's weight in the average.
    """

    most_norm: float = 100.0
    most_points: int = 100_000

    def __post_init__(self) -> None:
        if not (math.isfinite(self.most_norm) and self.most_norm > 0):
            raise out_of_range("most_norm", "above 0", self.most_norm)
        if self.most_points < 1:
            raise out_of_range("most_points", "at least 1", self.most_points)

    def vetted(self, found: Sent | str, before: Floats) -> Sent | str:
        """The update, if there is one and it is taken; else why not."""
        return found if isinstance(found, str) else self._fault(found, before) or found

    def _fault(self, sent: Sent, before: Floats) -> str | None:
        if sent.weights.shape != before.shape:
            return f"weights of shape {sent.weights.shape}, and the network has {before.shape}"
        if not np.isfinite(sent.weights).all():
            return "weights that are not finite"
        norm = float(np.linalg.norm(sent.weights.astype(np.float64) - before))
        if norm > self.most_norm:
            return f"an update of length {norm:.3g}, above the {self.most_norm:g} of --most-norm"
        if not 1 <= sent.n <= self.most_points:
            return f"{sent.n} points, and 1 to {self.most_points:,} are taken"
        return None


def usual_norm(network: Network, steps: Sequence[Step]) -> float:
    """A limit where these steps are known to be taken: that without noise, and twice dp's.

    Updates of the paper's settings are 0.3 to 7 long; the noise of dp is σ√d, whatever it hides.
    """
    noise = [
        step.sigma * math.sqrt(network.size)
        for step in steps
        if isinstance(step, DifferentialPrivacy)
    ]
    return Vetting.most_norm + 2 * sum(noise)


def unpack(message: Message) -> Sent | str:
    """The update of a reply, or why there is none."""
    if message.has_error():
        return f"no answer ({message.error.reason})"
    content = message.content
    why = why_not(content)
    if why is not None:
        return why
    try:
        values = content.array_records[ARRAYS][WEIGHTS].numpy()
        n = content.metric_records[METRICS][N]
    except Exception as error:  # whatever a stranger packed must not end the run
        return f"an answer that is none ({error!r})"
    if not isinstance(values, np.ndarray) or values.dtype != np.float32:
        return "weights that are no float32"
    return Sent(values, n) if isinstance(n, int) else f"{n!r} points"
