"""Which cell serves a phone, and how its signal changes: weekly drift, fading per reading."""

import numpy as np
from scipy.special import digamma

from veilmap.sources.campus.logger import Fixes, Moments
from veilmap.sources.campus.people import DAY_S
from veilmap.sources.campus.radio import RadioNetwork
from veilmap.sources.campus.world import Array, Campus, Flags, Index
from veilmap.streams import stream

# A cell's load changes by the day and by the moment; heavy tails (Student's t with two degrees of
# freedom) because now and then a cell is closed or a far one is taken.
DAY_DB, MOMENT_DB, TAIL = 1.5, 1.8, 2
# A phone looks for a better cell at this share of its visits, and otherwise keeps the one it has
# as long as that is not weaker than the best by more than this.
LOOKS_SHARE, KEPT_WITHIN_DB = 0.75, 20.0
WEEK_S = 604_800.0
KEPT = 0.8  # of a week's level in the next one


def attach(
    world: Campus, network: RadioNetwork, moments: Moments, fixes: Fixes, draw: np.random.Generator
) -> tuple[Index, Array]:
    """(cell, mean power) of each burst of one phone, with the provider's cells numbered from 0."""
    indoors = ~moments.walking
    at_place_db = network.received_db(world, fixes.place_m, indoors)
    day = (moments.start_s // DAY_S).astype(int)
    liking_db = np.zeros_like(at_place_db)
    for scale_db, period in ((DAY_DB, day), (MOMENT_DB, fixes.visit)):
        noise = draw.standard_t(TAIL, (len(at_place_db), period.max(initial=0) + 1))
        liking_db += scale_db * noise[:, period]
    best = (at_place_db + liking_db).argmax(axis=0)
    looks = draw.random(fixes.visit.max(initial=0) + 1) < LOOKS_SHARE
    cell = kept_cells(best, looks[fixes.visit], at_place_db)
    here_db = network.received_db(world, fixes.true_m, indoors)
    return cell, here_db[cell, np.arange(len(cell))] + fixes.spot_db


def kept_cells(best: Index, looks: Flags, power_db: Array) -> Index:
    """The best cell at the last look, where it still serves; else the best one now."""
    burst = np.arange(len(best))
    kept = best[np.maximum.accumulate(np.where(looks, burst, 0))]
    serves = power_db[kept, burst] > power_db[best, burst] - KEPT_WITHIN_DB
    return np.where(serves, kept, best)


def drift_db(world: Campus, start_s: Array, cell: Index, seed: int) -> Array:
    """A cell's slow drift: a level for every week, near the previous one, linear in between."""
    level_db = _levels_db(world, seed)
    week = (start_s // WEEK_S).astype(int)
    gone = start_s / WEEK_S - week
    drift: Array = (1 - gone) * level_db[week, cell] + gone * level_db[week + 1, cell]
    return drift


def _levels_db(world: Campus, seed: int) -> Array:
    """Week by week (rows) for all cells: an autoregressive process of order 1."""
    weeks = int(world.days * DAY_S // WEEK_S) + 2
    level = stream(seed, "campus", "drift").normal(0, world.drift_db, (weeks, world.cells))
    for week in range(1, weeks):
        level[week] = KEPT * level[week - 1] + np.sqrt(1 - KEPT**2) * level[week]
    return level


def fading_db(world: Campus, count: int, draw: np.random.Generator) -> Array:
    """Rayleigh fading, averaged over a few looks (a gamma distribution), with mean 0 dB."""
    looks = world.fading_looks
    power = draw.standard_gamma(looks, count)
    fading: Array = 10 / np.log(10) * (np.log(power) - digamma(looks))
    return fading
