"""What a kind of claim is. It turns the rows of one seed into one number, its effect.

The effect is above zero if the claim is true of that seed; several seeds show how sure that is.
Published numbers are rows as well, so that they go the same way.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from veilmap.sweeping.selection import SweepRow


@dataclass(frozen=True)
class Rule(ABC):
    """What a claim's figures must be like; ``figure`` is what the rows call them."""

    figure: str
    # How the numbers are joined in a table: 7.0 against 9.7.
    joint = ", "

    @abstractmethod
    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        """Above zero if true, in the figure's unit; None if these rows cannot decide."""

    @abstractmethod
    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        """The numbers that are compared, in the order of the statement."""
