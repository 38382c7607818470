"""How far a trained attacker is from the limit: a k-NN estimate of the Bayes risk."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.spatial import KDTree

from veilmap.attacks.sums.history import Floats
from veilmap.shadows.home_map import HomeMap

RADII_M = (50.0, 100.0, 200.0)


@dataclass(frozen=True)
class Limit:
    """Of guesses within a radius of home, on the same people.

    Attributes:
        within_m: the radius.
        learned: the share of homes that the trained attacker finds.
        neighbours: the share found if each guess is corrected by what held for the k people with
            the most similar maps; well above ``learned``, the maps miss something.
        at_most: no guess from the maps finds more, √P(|s − s'| ≤ 2r) with s and s' the ways from
            guess to home of a person and of the one with the most similar map (after Cover and
            Hart: both lie in the best disc with the chance (1 − R*)² at least). It holds in the
            limit of many people.
    """

    within_m: float
    learned: float
    neighbours: float
    at_most: float


def limits(maps: Sequence[HomeMap], homes_m: Floats) -> tuple[Limit, ...]:
    """From maps of people who were not learned from; empty for fewer than three."""
    if len(maps) < 3:
        return ()
    guesses_m = np.array([each.guess_m() for each in maps])
    ways_m, summary = homes_m - guesses_m, _summaries(maps, guesses_m)
    k = ceil(sqrt(len(maps)))
    _, near = KDTree(summary).query(summary, k=min(k + 1, len(maps)))
    others = [row[row != own][:k] for own, row in enumerate(near)]
    found = []
    for r in RADII_M:
        corrected = [_best_shift(ways_m[others[own]], r) for own in range(len(maps))]
        hits = np.hypot(*(ways_m - np.array(corrected)).T) <= r
        apart_m = np.hypot(*(ways_m - ways_m[[row[0] for row in others]]).T)
        learned = float((np.hypot(*ways_m.T) <= r).mean())
        # A guess that is found is no more than the limit, whatever the neighbours are.
        at_most = max(sqrt(float((apart_m <= 2 * r).mean())), learned)
        found.append(Limit(r, learned, float(hits.mean()), at_most))
    return tuple(found)


def _best_shift(ways_m: Floats, r: float) -> Floats:
    """Of no shift and the neighbours' own the one within r of most of them, the first of equals."""
    tried_m = np.vstack([np.zeros((1, 2)), ways_m])
    within = np.hypot(*(tried_m[:, None] - ways_m[None]).transpose(2, 0, 1)) <= r
    found: Floats = tried_m[within.sum(axis=1).argmax()]
    return found


def _summaries(maps: Sequence[HomeMap], guesses_m: Floats) -> Floats:
    """Of each map how concentrated it is and where, as seen from its guess, the rest lies."""
    rows = []
    for each, guess_m in zip(maps, guesses_m, strict=True):
        masses = [each.mass(guess_m, r) for r in RADII_M]
        positive = each.shares[each.shares > 0]
        entropy = float(-(positive * np.log(positive)).sum())
        mean_m = each.shares @ each.xy_m - guess_m
        spread_m = sqrt(float(each.shares @ ((each.xy_m - guess_m) ** 2).sum(axis=1)))
        rows.append([*masses, entropy, *mean_m, spread_m])
    values = np.array(rows)
    spread = values.std(axis=0)
    found: Floats = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return found
