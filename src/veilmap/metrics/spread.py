"""A figure over many runs, and under which attack it is worst for the user."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low


@dataclass(frozen=True)
class Spread:
    """A figure over all seeds and targets.

    The median, because errors have long tails: an attack that finds home in two of three runs has
    found it.
    """

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Of two values in the middle, the lower."""
        return cls(median_low(values), min(values), max(values))


@dataclass(frozen=True)
class Strongest:
    """A figure under the attack that does best by it.

    Attributes:
        attack: that is chosen for the most runs.
        figure: over all runs, each under the attack that does best in other runs.
        hindsight: what the runs themselves would choose; None if there are no others.
    """

    attack: str
    figure: Spread
    hindsight: "Strongest | None" = None
