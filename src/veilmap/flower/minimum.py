"""What a node insists on, whatever a server asks of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import hypot, inf
from typing import Literal

from veilmap.defences.combinations import combination_faults
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.defences.gaussian import delta_faults, epsilon_of
from veilmap.defences.geoind import GeoIndistinguishability
from veilmap.defences.step import Step, UpdateStep
from veilmap.errors import UserError, out_of_range, refuse
from veilmap.federation.plan import SCHEMES, Training
from veilmap.flower.campaign import Campaign
from veilmap.flower.secure.roster import FEWEST
from veilmap.rounds import parse_interval
from veilmap.study.protection import Protection

PAPERS_LEARNING_RATE = 1e-5  # of FedAvg
# More than anybody trains by, and few enough for a phone.
MOST_EPOCHS = 1000
DEFAULT_DEFENCE = ("farthest:eps_m=50,num=20",)


@dataclass(frozen=True)
class Minimum:
    """The node's own demands. The defaults are FedAvg's averaging and Farthest Batch.

    Attributes:
        defence: steps that are always taken, with these settings; what a server proposes besides
            is taken too if it goes with them.
        epochs: E is at least this.
        batch_size: B is at most this.
        learning_rate: η is at least this: steps that hardly move are one large step, which FedAvg's
            averaging was to prevent.
        cumulative: allow a server to have earlier rounds trained on again.
        interval: rounds that are shorter are not answered.
        points: rounds in which fewer were measured are kept back; a selection hides nothing
            where there is nothing to choose from.
        epsilon: what all updates together may spend by differential privacy, over all cells and
            campaigns; an update without dp then never goes out.
        delta: at which ``epsilon`` is reckoned.
        secure_aggregation: answer only where the server sees sums.
        nodes: how many nodes a sum has at least.
    """

    defence: tuple[str, ...] = DEFAULT_DEFENCE
    epochs: int = SCHEMES["fedavg"]["epochs"]
    batch_size: int | Literal["inf"] = SCHEMES["fedavg"]["batch_size"]
    learning_rate: float = PAPERS_LEARNING_RATE
    cumulative: bool = False
    interval: str = "1h"
    points: int = 20
    epsilon: float | None = None
    delta: float = 1e-5
    secure_aggregation: bool = False
    nodes: int = FEWEST

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        for name in ("epochs", "batch_size", "points"):
            if _number(getattr(self, name)) < 1:
                yield out_of_range(f"minimum.{name}", "at least 1", getattr(self, name))
        if not 0 < self.learning_rate < inf:
            yield out_of_range("minimum.learning_rate", "above 0", self.learning_rate)
        if self.nodes < FEWEST:
            yield out_of_range("minimum.nodes", f"at least {FEWEST}", self.nodes)
        if self.epsilon is not None and not 0 < self.epsilon < inf:
            yield out_of_range("minimum.epsilon", "above 0", self.epsilon)
        yield from delta_faults(self.delta)
        for check in (lambda: parse_interval(self.interval), lambda: Protection(self.defence)):
            try:
                check()
            except UserError as fault:
                yield fault

    def training(self, asked: Training) -> Training:
        """B, E and η as asked, or those of the minimum where they average more."""
        return replace(
            asked,
            epochs=max(asked.epochs, self.epochs),
            batch_size=min(asked.batch_size, self.batch_size, key=_number),
            learning_rate=max(asked.learning_rate, self.learning_rate),
        )

    def steps(self, asked: Sequence[Step]) -> tuple[Step, ...]:
        """The node's steps with its settings, and those proposed besides that go with them."""
        own = Protection(self.defence).steps
        more = [step for step in asked if step.name not in {each.name for each in own}]
        merged = tuple(sorted((*own, *more), key=_place))
        return own if any(True for _ in combination_faults(merged)) else merged

    def objections(self, campaign: Campaign) -> Iterator[str]:
        """Why this node keeps out of a campaign, whatever its data; nothing if it does not.

        They go to the server and say nothing but what the node demands.
        """
        if campaign.interval_s < parse_interval(self.interval):
            yield f"rounds of {campaign.interval_s:g} s are shorter than {self.interval}"
        if campaign.training.epochs > MOST_EPOCHS:
            yield f"trains for {MOST_EPOCHS:,} epochs at most"
        if campaign.training.cumulative and not self.cumulative:
            yield "does not train on earlier rounds again"
        if self.secure_aggregation and not campaign.secure_aggregation:
            yield "answers only under secure aggregation"

    def overspends(self, steps: Sequence[Step], spent_mu: float) -> Iterator[str]:
        """Why one more update by these steps would go over the budget.

        ``spent_mu`` is μ of all updates so far together; those of Gaussian noise add by squares.
        """
        if self.epsilon is None:
            return
        mu = mu_of_update(steps)
        if mu is None:
            yield f"spends at most ε = {self.epsilon:g} in all, which needs dp among the steps"
        elif epsilon_of(hypot(spent_mu, mu), self.delta) > self.epsilon:
            yield f"has spent what it may: ε = {self.epsilon:g} in all"


def mu_of_update(steps: Sequence[Step]) -> float | None:
    """μ of one update's noise; None without dp."""
    for step in steps:
        if isinstance(step, DifferentialPrivacy):
            return step.clip / step.sigma
    return None


def _number(batch_size: int | Literal["inf"]) -> float:
    return inf if batch_size == "inf" else batch_size


def _place(step: Step) -> int:
    """Noise on points comes before any look at them, noise on the update after training."""
    if isinstance(step, GeoIndistinguishability):
        return 0
    return 2 if isinstance(step, UpdateStep) else 1
