"""What server and users agree on before the first round."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import isfinite
from typing import Any, Literal

from veilmap.area import Area
from veilmap.defences.combinations import cumulative_faults
from veilmap.defences.defence import Defence
from veilmap.defences.step import Step, Turn, UpdateStep
from veilmap.errors import Checked, UserError, not_among, out_of_range, refuse
from veilmap.federation.aggregation import AGGREGATIONS, Aggregation, AggregationName, Average
from veilmap.federation.map_family import Additive, Arrays, MapFamily, dense_network
from veilmap.federation.robust import Gathered, median, trimmed_mean
from veilmap.federation.update_validation import ANY_FINITE, Refusal, UpdateLimits
from veilmap.local_data import Scaler
from veilmap.model.network import Floats, Network

# Larger values are errors, in a run or in a transcript.
MOST_EPOCHS = 100_000
MOST_POINTS = 10**12


@dataclass(frozen=True)
class Training(Checked):
    """The knobs of Algorithm 1; of the kriging map only ``fraction``.

    Attributes:
        epochs: E, how often a phone goes over its data in a round.
        batch_size: B, the points per gradient step; "inf" takes all at once, which with one epoch
            is FedSGD.
        learning_rate: η of the phone's SGD.
        fraction: C, the share of users that the server asks in a round.
        cumulative: keep the data of earlier rounds on the phone and train on all of it.
        aggregation: how the server combines a round's updates: their mean, weighted by the users'
            points; or, coordinate by coordinate, their median or trimmed mean, which weigh all
            users the same and tolerate a few broken or hostile ones.
        trimmed_share: β, the share of users that the trimmed mean leaves out at each end.
    """

    epochs: int = 5
    batch_size: int | Literal["inf"] = 20
    learning_rate: float = 1e-3
    fraction: float = 1.0
    cumulative: bool = False
    aggregation: AggregationName = "mean"
    trimmed_share: float = 0.2

    def _faults(self) -> Iterator[UserError]:
        if not 1 <= self.epochs <= MOST_EPOCHS:
            yield out_of_range("epochs", f"from 1 to {MOST_EPOCHS:,}", self.epochs)
        if self.batch_size != "inf" and not (
            isinstance(self.batch_size, int) and 1 <= self.batch_size <= MOST_POINTS
        ):
            demand = f"a whole number from 1 to {MOST_POINTS:,}, or 'inf'"
            yield out_of_range("batch_size", demand, self.batch_size)
        if not (isfinite(self.learning_rate) and self.learning_rate > 0):
            yield out_of_range("learning_rate", "a number above 0", self.learning_rate)
        if not 0 < self.fraction <= 1:
            yield out_of_range("fraction", "above 0 and at most 1", self.fraction)
        yield from not_among("aggregation", self.aggregation, AGGREGATIONS)
        if not 0 < self.trimmed_share < 0.5:
            yield out_of_range("trimmed_share", "above 0 and below 0.5", self.trimmed_share)

    def aggregate(self, weights_before: Floats, senders: int) -> Aggregation:
        """Where the updates of a round go in which ``senders`` may send."""
        if self.aggregation == "mean":
            return Average(weights_before)
        rule = median if self.aggregation == "median" else trimmed_mean(self.trimmed_share)
        return Gathered(weights_before, rule, senders)

    @property
    def name(self) -> str:
        """The scheme's name in the paper."""
        plain = "fedsgd" if self.batch_size == "inf" and self.epochs == 1 else "fedavg"
        return f"cumulative {plain}" if self.cumulative else plain

    def as_text(self, base: "Training | None" = None) -> str:
        """``fedavg:learning_rate=1e-05``: the name, and what differs from the scheme's settings.

        Where several trainings share a ``base``, what differs from that.
        """
        usual = replace(base or Training(), **SCHEMES[self.name])
        own = [
            f"{field.name}={getattr(self, field.name)}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(usual, field.name)
        ]
        return f"{self.name}:{','.join(own)}" if own else self.name


# B and E of the paper by the name of the scheme.
SCHEMES: dict[str, dict[str, Any]] = {
    "fedsgd": {"epochs": 1, "batch_size": "inf", "cumulative": False},
    "fedavg": {"epochs": 5, "batch_size": 20, "cumulative": False},
    "cumulative fedsgd": {"epochs": 1, "batch_size": "inf", "cumulative": True},
    "cumulative fedavg": {"epochs": 5, "batch_size": 20, "cumulative": True},
}


@dataclass(frozen=True)
class Plan:
    """The kind of map, the scale of its input and labels, the area, the training, the root seed.

    Maps learn ``rsrp_dbm - label_offset_dbm``; the paper's raw labels are offset 0.
    ``defence`` is what phones do to hide, by default nothing; ``cell`` is the one that is mapped.
    ``update_limits`` is which updates the server takes; ``broken`` are the users whose phones a
    simulation lets send garbage, with its kind.
    """

    map: MapFamily
    scaler: Scaler
    area: Area
    training: Training = Training()
    label_offset_dbm: float = 0.0
    seed: int = 0
    defence: Defence = field(default_factory=Defence)
    cell: str = ""
    update_limits: UpdateLimits = ANY_FINITE
    broken: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refuse(family_faults(self.map, self.training, self.defence.steps))
        if self.training.cumulative:
            refuse(cumulative_faults(self.defence.steps))

    @property
    def network(self) -> Network:
        """The dense network that the map is; an error for another family."""
        return dense_network(self.map)

    def shown(self, state: Arrays) -> Arrays:
        """What phones get of the server's state: where messages are only added up, nothing."""
        return {} if isinstance(self.map, Additive) else state

    def refusal(self, message: Arrays, n: int, state: Arrays) -> Refusal | None:
        """Why the server does not take a message made from n_t^k points; None if it does."""
        if not isinstance(self.map, Additive):
            return self.update_limits.refusal(message, n, state)
        fault = self.map.message_fault(self, message)
        return None if fault is None else Refusal(fault)

    def message_size(self, message: Arrays, n: int) -> int:
        """The number of points that the server learns of."""
        return self.map.message_size(self, message) if isinstance(self.map, Additive) else n

    def turn(self, user: str, t: int) -> Turn:
        """What the steps of a user's defence know in round t."""
        return Turn(user, t, self.seed, self.area, self.scaler, self.cell)


def family_faults(
    family: MapFamily, training: Training, steps: Sequence[Step]
) -> Iterator[UserError]:
    """What a family cannot do that the training and the defence ask for."""
    if training.aggregation != "mean" and not getattr(family, "robust", False):
        yield UserError(
            f"the map {family.name} does not follow aggregation {training.aggregation}; take mean, "
            "or declare robust = True on the class if its combine follows plan.training"
        )
    if not isinstance(family, Additive):
        return
    if training.cumulative:
        yield UserError(
            f"the map {family.name} forgets no round, so phones must not send one twice; leave out "
            "--cumulative"
        )
    for step in steps:
        if isinstance(step, UpdateStep):
            yield UserError(
                f"{step.name} alters updates, and messages of the map {family.name} are added up "
                "as they are; take a defence that chooses or moves points, or --map network"
            )
