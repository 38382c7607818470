"""What a kind of signal map is: four verbs over named arrays.

A server keeps a state, a phone answers a state with a message, and both are arrays by name. A
family is a frozen dataclass whose fields are its settings. The paper's network is the first
(``maps.network_map``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.local_data import LocalData, Scaler
from veilmap.model.network import Floats, Network
from veilmap.strategy import Named, as_text

if TYPE_CHECKING:
    from torch import nn

    from veilmap.federation.plan import Plan

Arrays = Mapping[str, NDArray[Any]]
PAPERS = "network"  # the name of the paper's map, which no other family can have
WEIGHTS = "weights"  # the one array of families that send weights, as one flat vector


class Footing(Protocol):
    """What all sides agree on in public before the first round."""

    @property
    def scaler(self) -> Scaler:
        """Positions as the family sees them."""

    @property
    def area(self) -> Area:
        """Where the map is of."""

    @property
    def label_offset_dbm(self) -> float:
        """The public mean that labels are deviations from."""


@dataclass(frozen=True)
class Prediction:
    """The signal at some places, and what the family knows of its uncertainty there.

    Attributes:
        rsrp_dbm: the signal.
        std_db: half the width of an interval around it that holds 68 % of what phones report.
        within_95_db: half the width of one that holds 95 %.
        explained: the part of the prior variance that the measurements took away, from 0 to 1;
            near 0 they say nothing of the place.
        visits: how many messages named the square in which the place lies.
    """

    rsrp_dbm: NDArray[np.float64]
    std_db: NDArray[np.float64] | None = None
    within_95_db: NDArray[np.float64] | None = None
    explained: NDArray[np.float64] | None = None
    visits: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Sent:
    """One user's message, made from n_t^k points."""

    user: str
    message: Arrays
    n: int


class MapFamily(Named, Protocol):
    """A kind of map that phones make together."""

    def start(self, plan: "Plan") -> Arrays:
        """The server's first state, from what is public."""

    def answer(self, plan: "Plan", state: Arrays, batch: LocalData, user: str, t: int) -> Arrays:
        """What a phone makes of its points of round t; random draws come from named streams."""

    def combine(
        self, plan: "Plan", state: Arrays, messages: Iterable[Sent], senders: int
    ) -> Arrays:
        """The next state; of no messages the same. ``senders`` is how many may come at most."""

    def predict(self, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]) -> Prediction:
        """The map at positions in metres."""


@runtime_checkable
class Differentiable(Protocol):
    """A family whose weights are those of a torch module, flat in the order of its parameters."""

    def module(self) -> "nn.Module":
        """A new module from standardised positions to the deviation from the labels' offset."""


@runtime_checkable
class PredictsSignal(Protocol):
    """A family that predicts the signal alone at a fraction of what its uncertainty costs."""

    def signal_dbm(
        self, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """As ``predict`` has it."""


@runtime_checkable
class Additive(Protocol):
    """A family whose server only adds messages up.

    A phone's message does not depend on the server's state. How many points it was made from is
    not sent, and no step alters it: it is whole, or refused.
    """

    def message_fault(self, plan: "Plan", message: Arrays) -> str | None:
        """Why a message cannot be added up; None if it can."""

    def message_size(self, plan: "Plan", message: Arrays) -> int:
        """What a message without fault itself tells of its size, in the place of n_t^k."""

    def added(self, area: Area, messages: Iterable[Arrays]) -> Arrays:
        """Messages of one round as their sum, which is all that a server sees of a secure one.

        The sum is a message too, and of no messages it is zero, in arrays of the same shapes.
        """

    def sum_fault(self, plan: "Plan", total: Arrays, messages: int) -> str | None:
        """Why arrays cannot be the sum of so many messages without fault; None if they can."""


def flat_change(before: Arrays, after: Arrays) -> Floats:
    """The arrays of ``after`` less those of the same name and shape before, as one vector.

    This is the update that steps on messages act on: w_t^k − w_{t-1} where weights are sent.
    """
    parts = [np.ravel(_change(before.get(name), value)) for name, value in after.items()]
    change = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return change.astype(np.float32, copy=False)


def with_change(before: Arrays, after: Arrays, change: Floats) -> dict[str, NDArray[Any]]:
    """The arrays that ``flat_change`` would give this change for."""
    found, start = {}, 0
    for name, value in after.items():
        part = change[start : start + value.size].reshape(value.shape)
        start += value.size
        base = before.get(name)
        found[name] = part if base is None or base.shape != value.shape else base + part
    return found


def _change(before: NDArray[Any] | None, after: NDArray[Any]) -> NDArray[Any]:
    if before is None or before.shape != after.shape:
        return after
    change: NDArray[Any] = after - before
    return change


def papers_network(family: MapFamily) -> Network | None:
    """The layers of the paper's own map; another that is a dense network may train otherwise."""
    return family if isinstance(family, Network) and family.name == PAPERS else None


def dense_network(family: MapFamily) -> Network:
    """The family as the dense network that it is.

    Raises:
        UserError: it is another.
    """
    if isinstance(family, Network):
        return family
    raise UserError(
        f"this needs the layers of a dense network, got the map {as_text(family)}; "
        "train with --map network"
    )
