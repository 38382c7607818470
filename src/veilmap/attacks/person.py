"""A person whose home is known, for attackers who learn from others."""

from collections.abc import Mapping
from dataclasses import dataclass

from veilmap.local_data import LocalData
from veilmap.metrics.weighted_points import Points


@dataclass(frozen=True)
class Person:
    """What a person measured, and where the person lives.

    Attributes:
        user: the name.
        home_m: one position (east, north).
        rounds: D_t by round t.
    """

    user: str
    home_m: Points
    rounds: Mapping[int, LocalData]
