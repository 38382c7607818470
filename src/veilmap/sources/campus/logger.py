"""When the phones log: bursts at random moments while the logger runs."""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.campus.people import DAY_S, Stays
from veilmap.sources.campus.world import Array, Campus, Flags, Index
from veilmap.streams import stream

# The logger of a day runs all night before, or starts in the morning; it ends in the evening.
ALL_NIGHT = 0.3
BEGINS_H = (6.0, 7.0)
ENDS_H = (18.5, 23.5)
# Range of the others' logged days, relative to the first person's.
OTHERS = (0.10, 0.22)
GOLDEN = 0.6180339887498949  # its multiples spread evenly between 0 and 1
# Loggers react to changes: so many more bursts on foot, and fewer while everything sleeps.
MORE_ON_FOOT = 1.6
BY_NIGHT = 0.35
NIGHT_H = 7.0


@dataclass(frozen=True)
class Moments:
    """One entry per burst of one phone, in order of time."""

    start_s: Array
    stay: Index  # the stay of the burst, or the last one before it
    walking: Flags


def moments(world: Campus, stays: Stays, seed: int, person: int) -> Moments:
    """The bursts of one phone: drawn at the highest rate, then thinned where it is lower."""
    draw = stream(seed, "campus", "logger", person)
    start_s = _candidates(world, _logged_days(world, person, draw), draw)
    stay = stays.at(start_s)
    walking = start_s > stays.leave_s[stay]
    resting_share = np.where(is_night(start_s), BY_NIGHT, 1.0) / MORE_ON_FOOT
    kept = draw.random(len(start_s)) < np.where(walking, 1.0, resting_share)
    return Moments(start_s[kept], stay[kept], walking[kept])


def is_night(time_s: Array) -> Flags:
    """Before people get up."""
    return time_s % DAY_S < NIGHT_H * 3600


def _logged_days(world: Campus, person: int, draw: np.random.Generator) -> Index:
    """The first and the last day of a person's stretch, and a fixed number between them.

    People join one after the other.
    """
    low, high = OTHERS
    rank = GOLDEN * person % 1
    share = low + (high - low) * rank if person else 1.0
    days = world.stretch_days
    count = max(round(share * world.logged_days * days), 2)
    between = draw.permutation(np.arange(1, days - 1))[: count - 2]
    day = np.unique(np.r_[0, between, days - 1])
    return day + round(rank * (world.days - days))


def _candidates(world: Campus, day: Index, draw: np.random.Generator) -> Array:
    """Times while the logger runs, at the rate of a walking person."""
    begin_h = np.where(draw.random(len(day)) < ALL_NIGHT, 0.0, draw.uniform(*BEGINS_H, len(day)))
    lasts_h = draw.uniform(*ENDS_H, len(day)) - begin_h
    bursts_per_hour = MORE_ON_FOOT * world.points_per_hour / world.burst_points
    session = np.repeat(np.arange(len(day)), draw.poisson(lasts_h * bursts_per_hour))
    time_h = (24 * day + begin_h)[session] + lasts_h[session] * draw.random(len(session))
    return np.sort(np.floor(time_h * 3600))
