"""How near attacks come to home, over people: one error for each person, and its distribution."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import Any

from veilmap.errors import UserError
from veilmap.metrics.baselines import GUESS_NAMES
from veilmap.metrics.figure_names import HOME_ERROR
from veilmap.metrics.people_found import RADII_M, people_found
from veilmap.metrics.rows import TrialRow

# The share of people that a figure leaves behind it: those who are located best come first.
QUANTILES = {"worst_decile_m": 0.1, "lower_quartile_m": 0.25, "median_m": 0.5}
QUANTILES |= {"upper_quartile_m": 0.75}


@dataclass(frozen=True)
class HomeErrors:
    """The home errors of all attacked people under one attack, or under one guess.

    Attributes:
        configuration: that the people's phones were in.
        attack: its name, or the guess's; None where no attack names a home in most runs.
        errors_m: one per person in metres, the least first; infinite for a person of whom no home
            is named in most runs.
        without_home: of how many people the data name no home; their errors are of the heaviest
            place.
        is_guess: no message was seen.
    """

    configuration: str
    attack: str | None
    errors_m: tuple[float, ...]
    without_home: int = 0
    is_guess: bool = False

    def __post_init__(self) -> None:
        if not self.errors_m:
            raise UserError("a distribution over people needs one home error at least, got none")
        object.__setattr__(self, "errors_m", tuple(sorted(self.errors_m)))

    @classmethod
    def of(cls, rows: Sequence[TrialRow], *, is_guess: bool = False) -> "HomeErrors":
        """From the rows of one attack in one configuration: of every person the median over runs.

        A run in which no home is named is infinitely far; of two runs in the middle the nearer
        counts.
        """
        if not rows:
            raise UserError("a distribution over people needs the rows of an attack, got none")
        runs: dict[str | None, list[float]] = {}
        for row in rows:
            error_m = row.figure(HOME_ERROR)
            runs.setdefault(row.target, []).append(inf if error_m is None else error_m)
        homeless = {row.target for row in rows if row.value("true_home_by") == "weight"}
        errors_m = tuple(_quantile(sorted(own), 0.5) for own in runs.values())
        first = rows[0]
        return cls(first.configuration, first.attack, errors_m, len(homeless), is_guess)

    @property
    def called(self) -> str:
        """An attack by its name, a guess in words."""
        return GUESS_NAMES.get(str(self.attack), str(self.attack))

    @property
    def people(self) -> int:
        return len(self.errors_m)

    def quantile_m(self, share: float) -> float | None:
        """The least distance within which this share of people is located; None if nobody knows."""
        value = _quantile(self.errors_m, share)
        return value if isfinite(value) else None

    def within(self, radius_m: float) -> float:
        """P(error ≤ r)."""
        return people_found(self.errors_m, [radius_m])[radius_m]

    def figures(self) -> dict[str, Any]:
        """A row, ready for JSON; ``errors_m`` has None for people who are not located."""
        return {
            "configuration": self.configuration,
            "attack": self.attack,
            "is_guess": self.is_guess,
            "people": self.people,
            "without_home": self.without_home,
            **{name: self.quantile_m(share) for name, share in QUANTILES.items()},
            **{f"within_{radius_m:.0f}m": self.within(radius_m) for radius_m in RADII_M},
            "errors_m": [error_m if isfinite(error_m) else None for error_m in self.errors_m],
        }


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The inverse of the empirical distribution, min {x : F(x) ≥ share}."""
    # 0.1 · 30 is a little more than 3.
    return ordered[max(ceil(share * len(ordered) - 1e-9), 1) - 1]
