"""What a kind of claim is. It turns the rows of one seed into one number, its effect.

The effect is above zero if the claim is true of that seed; how sure that is, several seeds tell.
Published numbers are rows as well, so that they go the same way.
"""

from collections.abc import Sequence
from typing import ClassVar, Protocol

from veilmap.sweeping.selection import SweepRow


class Rule(Protocol):
    """What a claim's figures must be like."""

    # How the numbers are joined in a table: 7.0 against 9.7.
    joint: ClassVar[str]

    @property
    def figure(self) -> str:
        """As the rows call it."""

    def effect(self, rows: Sequence[SweepRow]) -> float | None:
        """Above zero if true, in the figure's unit; None if these rows cannot tell."""

    def values(self, rows: Sequence[SweepRow]) -> list[float | None]:
        """The numbers that are compared, in the order of the statement."""
