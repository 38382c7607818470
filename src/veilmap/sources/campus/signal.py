"""Changes of the signal over time: slow weekly drift, fast fading per reading."""

import numpy as np
from scipy.special import digamma

from veilmap.sources.campus.people import DAY_S
from veilmap.sources.campus.world import Array, Campus, Index
from veilmap.streams import stream

WEEK_S = 604_800.0
KEPT = 0.8  # of a week's level in the next one


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
