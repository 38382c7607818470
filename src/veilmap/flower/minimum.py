"""A node's own requirements, whatever a server asks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import hypot, inf
from typing import Literal

from veilmap.defences.combinations import combination_faults
from veilmap.defences.declarations import acts_on_points, covers_positions, fixed_size, mu_of
from veilmap.defences.gaussian import delta_faults, epsilon_of
from veilmap.defences.step import Step, UpdateStep
from veilmap.errors import Checked, UserError, fault_of, not_among, out_of_range, too_low
from veilmap.federation.plan import SCHEMES, Training, family_faults
from veilmap.flower.campaign import Campaign
from veilmap.flower.secure.roster import FEWEST
from veilmap.maps.families import MAP_FAMILIES
from veilmap.rounds import parse_interval
from veilmap.study.protection import Protection

PAPERS_LEARNING_RATE = 1e-5  # of FedAvg
# More than any study uses, and few enough for a phone.
MOST_EPOCHS = 1000
MOST_NUMBERS = 2_000_000  # 16 MB in a secure sum; a proxy takes 32 MiB
LIKELY_DBM = (-140.0, -40.0)
DEFAULT_DEFENCE = ("farthest:eps_m=50,num=20",)


@dataclass(frozen=True)
class Minimum(Checked):
    """The node's own requirements. The defaults are FedAvg's averaging and Farthest Batch.

    Attributes:
        defence: steps that are always taken, with these settings. Of the steps that a server
            proposes, noise on the update is taken too; steps on points only if the node has none
            of its own, because two selections in a row may leave a single true point.
        maps: the kinds of map that it takes part in; a kriging message names squares, which the
            server reads off unless it sees sums only.
        epochs: minimum of E; like B and η of the network, for other maps train nothing.
        batch_size: maximum of B.
        learning_rate: minimum of η: many tiny steps are like one large step, which FedAvg's
            averaging is meant to prevent.
        cumulative: allow training on earlier rounds again.
        interval: duration of the shortest round that is answered.
        centred: refuse labels that are not deviations from a likely mean signal: with raw labels
            all residuals have one sign, and the update reveals most.
        points: fewest points of a round that is answered; a selection hides nothing if there is
            nothing to choose from.
        epsilon: privacy budget ε of all updates together, over all cells and campaigns; updates
            without dp are then never sent.
        delta: δ of that budget.
        secure_aggregation: answer only if the server sees sums.
        nodes: smallest number of nodes in a sum.
    """

    defence: tuple[str, ...] = DEFAULT_DEFENCE
    maps: tuple[str, ...] = tuple(MAP_FAMILIES.own)
    epochs: int = SCHEMES["fedavg"]["epochs"]
    batch_size: int | Literal["inf"] = SCHEMES["fedavg"]["batch_size"]
    learning_rate: float = PAPERS_LEARNING_RATE
    cumulative: bool = False
    interval: str = "1h"
    centred: bool = True
    points: int = 40
    epsilon: float | None = None
    delta: float = 1e-5
    secure_aggregation: bool = False
    nodes: int = FEWEST

    def _faults(self) -> Iterator[UserError]:
        for name in ("epochs", "batch_size", "points"):
            if _number(getattr(self, name)) < 1:
                yield out_of_range(f"minimum.{name}", "at least 1", getattr(self, name))
        if not 0 < self.learning_rate < inf:
            yield out_of_range("minimum.learning_rate", "above 0", self.learning_rate)
        yield from too_low(FEWEST, **{"minimum.nodes": self.nodes})
        if self.epsilon is not None and not 0 < self.epsilon < inf:
            yield out_of_range("minimum.epsilon", "above 0", self.epsilon)
        yield from delta_faults(self.delta)
        for name in self.maps or ("",):
            yield from not_among("map of minimum.maps", name, MAP_FAMILIES.own)
        yield from fault_of(parse_interval, self.interval)
        yield from fault_of(Protection, self.defence)

    def training(self, asked: Training) -> Training:
        """B, E and η as requested, or those of the minimum if they average more."""
        return replace(
            asked,
            epochs=max(asked.epochs, self.epochs),
            batch_size=min(asked.batch_size, self.batch_size, key=_number),
            learning_rate=max(asked.learning_rate, self.learning_rate),
        )

    def steps(self, asked: Sequence[Step]) -> tuple[Step, ...]:
        """The node's own steps, and those of the proposed steps that it accepts."""
        own = self._own
        names, chooses = {step.name for step in own}, any(map(acts_on_points, own))
        more = [s for s in asked if s.name not in names and not (chooses and acts_on_points(s))]
        merged = tuple(sorted((*own, *more), key=_place))
        return own if list(combination_faults(merged)) else merged

    def fewest(self, steps: Sequence[Step]) -> int:
        """The fewest points to train on; the node's own steps may leave any number above 0."""
        proposed = [step for step in steps if acts_on_points(step) and step not in self._own]
        return self.points if proposed else 1

    @property
    def keeps_whole(self) -> bool:
        """Whether a round may be answered from which the selection leaves nothing out."""
        return any(self.points <= (fixed_size(step) or 0) for step in self._own)

    @property
    def _own(self) -> tuple[Step, ...]:
        return Protection(self.defence).steps

    def objections(self, campaign: Campaign) -> Iterator[str]:
        """Why this node declines a campaign, whatever its data; nothing if it takes part.

        The server reads these texts, so they reveal the node's requirements and nothing else.
        """
        if campaign.map.name not in self.maps:
            yield f"takes part in maps of the kind {' or '.join(self.maps)} only"
        if campaign.interval_s < parse_interval(self.interval):
            yield f"rounds of {campaign.interval_s:g} s are shorter than {self.interval}"
        if self.centred and not LIKELY_DBM[0] <= campaign.label_offset_dbm <= LIKELY_DBM[1]:
            low, high = LIKELY_DBM
            yield f"learns deviations from a mean of {low:g} to {high:g} dBm only"
        if campaign.training.epochs > MOST_EPOCHS:
            yield f"trains for {MOST_EPOCHS:,} epochs at most"
        if campaign.exchange.length > MOST_NUMBERS:
            yield f"sends messages of {MOST_NUMBERS:,} numbers at most"
        if campaign.training.cumulative and not self.cumulative:
            yield "does not train on earlier rounds again"
        if self.secure_aggregation and not campaign.secure_aggregation:
            yield "answers only under secure aggregation"

    def unfit_steps(self, campaign: Campaign, steps: Sequence[Step]) -> Iterator[str]:
        """Why steps that the node always takes do not go with the kind of map."""
        if any(family_faults(campaign.map, campaign.training, steps)):
            needed = ", ".join(step.name for step in steps if isinstance(step, UpdateStep))
            yield f"sends nothing without {needed}, which the map {campaign.map.name} cannot follow"

    def overspends(self, steps: Sequence[Step], spent_mu: float) -> Iterator[str]:
        """Why one more update by these steps would exceed the budget.

        ``spent_mu`` is μ of all updates so far; μ of Gaussian noise adds by squares.
        """
        if self.epsilon is None:
            return
        mu = mu_of_update(steps)
        if mu is None:
            yield f"spends at most ε = {self.epsilon:g} in all, which needs dp among the steps"
        elif spent_mu == inf:
            yield (
                "has already sent an update without noise, which no epsilon can cover; use a new "
                "node folder"
            )
        elif epsilon_of(hypot(spent_mu, mu), self.delta) > self.epsilon:
            yield f"has used up its privacy budget: ε = {self.epsilon:g} in all"


def mu_of_update(steps: Sequence[Step]) -> float | None:
    """μ of one update's noise; None without dp."""
    return next((mu for step in steps if (mu := mu_of(step)) is not None), None)


def _number(batch_size: int | Literal["inf"]) -> float:
    return inf if batch_size == "inf" else batch_size


def _place(step: Step) -> int:
    """A budget for positions comes before any look at them, noise on the update after training."""
    if covers_positions(step):
        return 0
    return 1 if acts_on_points(step) else 2
