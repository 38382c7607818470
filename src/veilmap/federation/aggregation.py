"""Line 12 of Algorithm 1 by name: what the server makes of a round's updates."""

from typing import Literal, Protocol, get_args

from veilmap.federation.average import Average
from veilmap.federation.robust import Gathered, median, trimmed_mean
from veilmap.model.network import Floats

AggregationName = Literal["mean", "median", "trimmed"]
AGGREGATIONS: tuple[AggregationName, ...] = get_args(AggregationName)


class Aggregation(Protocol):
    """Takes a round's updates, one at a time; ``n`` are the points of those taken, by user."""

    n: dict[str, int]

    def add(self, user: str, weights: Floats, n: int) -> None:
        """w_t^k, trained on n_t^k points."""

    def weights(self) -> Floats:
        """w_t; w_{t-1} if nobody sends."""


def aggregation(
    name: AggregationName, trimmed_share: float, weights_before: Floats, senders: int
) -> Aggregation:
    """The one of that name for a round in which ``senders`` may send."""
    if name == "mean":
        return Average(weights_before)
    rule = {"median": median, "trimmed": trimmed_mean(trimmed_share)}[name]
    return Gathered(weights_before, rule, senders)
