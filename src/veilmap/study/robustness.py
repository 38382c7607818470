"""Broken phones and what the server refuses, as data."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Annotated

from veilmap.errors import Checked, UserError, out_of_range, shown, unknown_choice
from veilmap.federation.byzantine import KINDS
from veilmap.federation.update_validation import ANY_FINITE, UpdateLimits
from veilmap.settings import ONE_OR_MORE


@dataclass(frozen=True)
class Robustness(Checked):
    """What the server refuses, and faults that a simulation makes.

    Attributes:
        most_norm: the largest norm of an accepted update; by default any finite one.
        broken: users with simulated faulty phones, each with its kind of fault: nan, inf, shape,
            huge (an update a million times as long) or flipped (ten times as long, in the opposite
            direction), such as 3=nan 5=flipped.
    """

    most_norm: float | None = None
    broken: Annotated[tuple[str, ...], ONE_OR_MORE] = ()

    def _faults(self) -> Iterator[UserError]:
        if self.most_norm is not None and not 0 < self.most_norm < inf:
            yield out_of_range("most_norm", "a number above 0", self.most_norm)
        for text in self.broken:
            user, _, kind = text.rpartition("=")
            if not user:
                yield UserError(f"cannot read {shown(text)}; write USER=KIND, such as 3=nan")
            elif kind not in KINDS:
                yield unknown_choice("kind of broken phone", kind, KINDS)
        if len(self.kinds) < len(self.broken):
            yield UserError(
                f"broken names a user twice: {', '.join(self.broken)}; give one kind to each"
            )

    @property
    def kinds(self) -> dict[str, str]:
        """What the phone of each broken user sends."""
        pairs = (text.rpartition("=") for text in self.broken)
        return {user: kind for user, _, kind in pairs}

    @property
    def update_limits(self) -> UpdateLimits:
        """Which updates the server of one process takes."""
        if self.most_norm is None:
            return ANY_FINITE
        return UpdateLimits(self.most_norm, ANY_FINITE.most_points)
