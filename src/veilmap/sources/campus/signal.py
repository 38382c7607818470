"""What time adds to the signal: slow drift by the week, fast fading by the reading."""

import numpy as np
from scipy.special import digamma

from veilmap.sources.campus.world import Array, Campus, Index
from veilmap.streams import stream

WEEK_S = 604_800.0


def drift_db(world: Campus, start_s: Array, cell: Index, seed: int) -> Array:
    """A cell's slow change: a new level every week, and a straight line between them."""
    weeks = int(world.days * 86_400 // WEEK_S) + 2
    level_db = stream(seed, "campus", "drift").normal(0, world.drift_db, (weeks, world.cells))
    week = (start_s // WEEK_S).astype(int)
    gone = start_s / WEEK_S - week
    drift: Array = (1 - gone) * level_db[week, cell] + gone * level_db[week + 1, cell]
    return drift


def fading_db(world: Campus, count: int, draw: np.random.Generator) -> Array:
    """Rayleigh fading, averaged over a few looks (a gamma distribution), with mean 0 dB."""
    looks = world.fading_looks
    power = draw.standard_gamma(looks, count)
    fading: Array = 10 / np.log(10) * (np.log(power) - digamma(looks))
    return fading
