"""Whether the maps of a trained attacker mean what they say, on people it did not learn from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veilmap.attacks.sums.history import Floats
from veilmap.shadows.home_map import HomeMap

WITHIN_M = (50.0, 100.0, 200.0)
SHARPNESS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
BINS = 5


@dataclass(frozen=True)
class Reliability:
    """Of guesses that were about as sure: how sure they were, and how often they were right.

    Attributes:
        within_m: home is meant to be this near to the guess.
        said: the mean chance that the maps gave to it.
        held: the share of people of whom it was true.
        people: how many.
    """

    within_m: float
    said: float
    held: float
    people: int


@dataclass(frozen=True)
class Calibration:
    """On the people set aside.

    Attributes:
        people: how many.
        hit: the share of homes within 50, 100 and 200 m of the guess.
        said: what the maps promised of it, on average.
        curve: reliability, from the least sure guesses to the surest.
        ranks: of each person the share of the map that is likelier than home; uniform if calibrated
            (simulation-based calibration).
        rank_p: p-value of Kolmogorov and Smirnov's test that they are.
    """

    people: int
    hit: tuple[float, ...]
    said: tuple[float, ...]
    curve: tuple[Reliability, ...]
    ranks: tuple[float, ...]
    rank_p: float


def sharpest(xy_m: Floats, chances: Sequence[Floats], homes_m: Floats) -> float:
    """The γ under which the maps give most chance to the homes: the best mean log share."""

    def score(sharpness: float) -> float:
        maps = (HomeMap.of(xy_m, each, sharpness) for each in chances)
        shares = [each.shares[each.at(home_m)] for each, home_m in zip(maps, homes_m, strict=True)]
        return float(np.log(np.maximum(shares, 1e-12)).mean())

    return max(SHARPNESS, key=score)


def cross_sharpened(xy_m: Floats, chances: Sequence[Floats], homes_m: Floats) -> list[HomeMap]:
    """The map of each person with the γ that serves the other half of them best."""
    found: list[HomeMap] = []
    half = np.arange(len(chances)) % 2
    gamma = {
        which: sharpest(
            xy_m,
            [c for c, h in zip(chances, half, strict=True) if h != which],
            homes_m[half != which],
        )
        for which in (0, 1)
        if (half != which).any()
    }
    for which, each in zip(half.tolist(), chances, strict=True):
        found.append(HomeMap.of(xy_m, each, gamma.get(which, 1.0)))
    return found


def calibration(maps: Sequence[HomeMap], homes_m: Floats) -> Calibration:
    """Compare what the maps say with the homes."""
    from scipy.stats import kstest  # takes long to load

    guesses_m = [each.guess_m() for each in maps]
    away_m = np.hypot(*(np.array(guesses_m) - homes_m).T)
    said = np.array(
        [[each.mass(g, r) for r in WITHIN_M] for each, g in zip(maps, guesses_m, strict=True)]
    )
    held = away_m[:, None] <= np.array(WITHIN_M)
    ranks = [each.more_likely(home_m) for each, home_m in zip(maps, homes_m, strict=True)]
    return Calibration(
        people=len(maps),
        hit=tuple(held.mean(axis=0).tolist()),
        said=tuple(said.mean(axis=0).tolist()),
        curve=tuple(_curve(said, held)),
        ranks=tuple(ranks),
        rank_p=float(kstest(ranks, "uniform").pvalue),
    )


def _curve(said: Floats, held: Floats) -> list[Reliability]:
    """In bins of as many people each."""
    found = []
    for column, within_m in enumerate(WITHIN_M):
        order = np.argsort(said[:, column], kind="stable")
        for part in np.array_split(order, min(BINS, len(order))):
            mean, true = said[part, column].mean(), held[part, column].mean()
            found.append(Reliability(within_m, float(mean), float(true), len(part)))
    return found
