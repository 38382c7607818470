"""What an honest-but-curious server sees."""

from dataclasses import dataclass, field
from typing import Protocol

from veilmap.errors import UserError
from veilmap.federation.map_family import WEIGHTS, Arrays
from veilmap.model.network import Floats


@dataclass(frozen=True)
class Observation:
    """User k came to round t, met the server's state, and sent a message made from n_t^k points."""

    round: int
    user: str
    state: Arrays = field(repr=False)
    message: Arrays = field(repr=False)
    n: int
    start_s: float

    @classmethod
    def of_weights(
        cls, t: int, user: str, before: Floats, after: Floats, n: int, start_s: float
    ) -> "Observation":
        """User k came with w_{t-1} and left with w_t^k."""
        return cls(t, user, {WEIGHTS: before}, {WEIGHTS: after}, n, start_s)

    @property
    def weights_before(self) -> Floats:
        """w_{t-1}, of families that send weights."""
        return _weights(self.state)

    @property
    def weights_after(self) -> Floats:
        """w_t^k."""
        return _weights(self.message)


def _weights(arrays: Arrays) -> Floats:
    if WEIGHTS not in arrays:
        raise UserError(
            f"messages of this map hold {', '.join(arrays)} and no weights, which the attack "
            "reads; choose an attack that reads this kind of map: veilmap methods"
        )
    return arrays[WEIGHTS]


class Observer(Protocol):
    """Receives every message that arrives at the server."""

    def see(self, observation: Observation) -> None:
        """One message of the current round."""

    def end_round(self) -> None:
        """All messages of the round have been seen."""


@dataclass
class Recorder:
    """Keeps in memory the observations of some users, or of all where none is named."""

    users: tuple[str, ...] = ()
    observations: list[Observation] = field(default_factory=list)

    def see(self, observation: Observation) -> None:
        """Keep it if it is of one of the users."""
        if not self.users or observation.user in self.users:
            self.observations.append(observation)

    def end_round(self) -> None:
        """Nothing to finish."""
