"""Whether a map beats the constant baseline, and an attack the guesses that see no message."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

# How sentences and legends call the guesses that see no message.
GUESS_NAMES = {"blind": "blind guess", "prior": "guess from others' places"}
_NO_BETTER = 0.95  # above this share of the baseline's error nothing was gained
_LITTLE_SKILL = 1 - _NO_BETTER**2
_NEAR = 0.5  # below this share of the guess's distance it is no chance


def is_no_better(error: float | None, of_baseline: float | None) -> bool:
    """Whether an error is about that of the baseline, or larger; not if one is unknown."""
    return error is not None and of_baseline is not None and error > _NO_BETTER * of_baseline


def has_skill(skill: float | None) -> bool:
    """Whether a map's skill says that it is better than the constant."""
    return skill is not None and skill >= _LITTLE_SKILL


def is_near(nearest_m: float | None, of_guess_m: float | None) -> bool:
    """Whether locations are clearly nearer to true points than a guess is."""
    if nearest_m is None or of_guess_m is None:
        return False
    return nearest_m < _NEAR * of_guess_m


@dataclass(frozen=True)
class Reach:
    """How near an attack or a guess comes: medians over runs, None where nothing is known.

    Attributes:
        home_m: to home.
        emd_m: of the locations or the clouds, whichever is less.
        nearest_m: of a location, to a place where the user was.
    """

    home_m: float | None
    emd_m: float | None
    nearest_m: float | None

    @classmethod
    def of(cls, runs: Sequence[Mapping[str, Any]]) -> "Reach":
        """From the figures of one attack in several runs."""
        return cls(
            _middle(run.get("home_error_m") for run in runs),
            _middle(_least([run.get("emd_m"), run.get("cloud_emd_m")]) for run in runs),
            _middle(run.get("nearest_m") for run in runs),
        )

    @classmethod
    def best(cls, guesses: Iterable["Reach"]) -> "Reach":
        """By every figure the one that comes nearest."""
        parts = [(each.home_m, each.emd_m, each.nearest_m) for each in guesses]
        return cls(*map(_least, zip(*parts, strict=True))) if parts else cls(None, None, None)

    def finds_nothing(self, guess: "Reach") -> bool:
        """No better than the guess by any figure; unknown where the guess has none."""
        if guess.home_m is None and guess.emd_m is None:
            return False
        return not is_near(self.nearest_m, guess.nearest_m) and all(
            error is None or of_guess is None or is_no_better(error, of_guess)
            for error, of_guess in ((self.home_m, guess.home_m), (self.emd_m, guess.emd_m))
        )


def _least(values: Sequence[float | None]) -> float | None:
    return _of_known(min, values)


def _middle(values: Iterable[float | None]) -> float | None:
    return _of_known(median, values)


def _of_known(
    of: Callable[[Sequence[float]], float], values: Iterable[float | None]
) -> float | None:
    known = [value for value in values if value is not None]
    return of(known) if known else None
