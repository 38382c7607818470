"""What an honest-but-curious server sees."""

from dataclasses import dataclass, field
from typing import Protocol

from veilmap.model.network import Floats


@dataclass(frozen=True)
class Observation:
    """User k came to round t with w_{t-1} and left with w_t^k, trained on n_t^k points."""

    round: int
    user: str
    weights_before: Floats
    weights_after: Floats
    n: int
    start_s: float


class Observer(Protocol):
    """Whoever watches the updates arrive."""

    def see(self, observation: Observation) -> None:
        """One update of the current round."""

    def end_round(self) -> None:
        """All updates of the round have been seen."""


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
