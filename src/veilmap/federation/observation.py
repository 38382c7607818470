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
    """Keeps in memory the observations of one user, or of all where none is named."""

    user: str | None = None
    observations: list[Observation] = field(default_factory=list)

    def see(self, observation: Observation) -> None:
        """Keep it if it is the user's."""
        if self.user in (None, observation.user):
            self.observations.append(observation)

    def end_round(self) -> None:
        """Nothing to finish."""
