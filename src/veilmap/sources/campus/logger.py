"""What the phones log: bursts at random moments, and the position that each burst records.

The logger runs on some days, from the night or the morning to the evening.

A resting phone keeps one fix for a while. Most fixes are from Wi-Fi, off by some metres, and some
of those come back to the very same coordinates; some are coarse, from the cells alone; some jitter.
A walking phone has a new fix in every burst. A burst without a fix repeats the last one.
"""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.campus.people import DAY_S, Stays
from veilmap.sources.campus.streets import WALKING_M_S
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

SLOT_S = 60.0  # a resting phone may take a new fix every minute
LONGER_BY_NIGHT = 2.5
# Rooms, desks, benches: a place is several spots. One changes the spot when the phone takes a fix.
SPOTS, SPOT_SPREAD_M = 6, 35.0
SPOT_DB = 1.0  # rooms, walls and hands differ by this much
TAIL = 5  # degrees of freedom of Student's t: most Wi-Fi fixes are good, a few are far off
RECURRING_SHARE = 0.3
COARSE_SHARE, COARSE_M = 0.13, 120.0
JITTER_SHARE, JITTER_M = 0.25, 0.7
WALKING_FIX_M = 5.0
LOST_SHARE = 0.05


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


@dataclass(frozen=True)
class Fixes:
    """One entry per burst of one phone."""

    true_m: Array  # where the phone was
    place_m: Array  # the middle of the place it was at; on foot the same as true
    reported_m: Array
    accuracy_m: Array
    spot_db: Array  # the spot's effect on the signal; 0 on foot
    visit: Index  # constant while a phone rests with one fix


def locate(world: Campus, stays: Stays, moments: Moments, seed: int, person: int) -> Fixes:
    """Draw the fix of every burst."""
    draw = stream(seed, "campus", "fixes", person)
    visit = visit_numbers(world, moments, draw)
    place = stays.place[moments.stay]
    spot = place * SPOTS + draw.integers(0, SPOTS, visit.max(initial=0) + 1)[visit]
    spots = len(stays.places_m) * SPOTS
    offset_m, effect_db = draw.normal(0, SPOT_SPREAD_M, (spots, 2)), draw.normal(0, SPOT_DB, spots)
    on_foot = moments.walking[:, None]
    walked_m = np.maximum(moments.start_s - stays.leave_s[moments.stay], 0) * WALKING_M_S
    way_m = stays.routes.at(stays.way[moments.stay], walked_m)
    place_m = np.where(on_foot, way_m, stays.places_m[place])
    true_m = place_m + np.where(on_foot, 0.0, offset_m[spot])
    resting_m = _at_rest_m(world, visit, spot, draw)
    error_m = np.where(on_foot, draw.normal(0, WALKING_FIX_M, true_m.shape), resting_m)
    scatter = draw.lognormal(0, 0.3, len(visit))
    accuracy_m = np.round(np.maximum(np.hypot(*error_m.T), WALKING_FIX_M) * scatter, 1)
    known = last_known(draw.random(len(visit)) >= LOST_SHARE)
    spot_db = np.where(moments.walking, 0.0, effect_db[spot])
    reported_m = (true_m + error_m)[known]
    return Fixes(true_m, place_m, reported_m, accuracy_m[known], spot_db, visit)


def visit_numbers(world: Campus, moments: Moments, draw: np.random.Generator) -> Index:
    """Numbers that change when the phone moves or takes a new fix; on foot with every burst."""
    slot_s = SLOT_S * np.arange(world.days * DAY_S // SLOT_S + 1)
    longer = np.where(is_night(slot_s), LONGER_BY_NIGHT, 1.0)
    taken = np.cumsum(draw.random(len(slot_s)) < SLOT_S / (60 * world.fix_minutes * longer))
    fix = taken[(moments.start_s // SLOT_S).astype(int)]
    changes = moments.walking[1:] | moments.walking[:-1]
    changes = changes | (np.diff(fix) != 0) | (np.diff(moments.stay) != 0)
    return np.cumsum(np.r_[False, changes][: len(fix)])


def _at_rest_m(world: Campus, visit: Index, spot: Index, draw: np.random.Generator) -> Array:
    """The error of a resting phone's fix."""
    visits = visit.max(initial=0) + 1
    own_m = world.fix_spread_m * draw.standard_t(TAIL, (visits, 2))
    recurring_m = world.fix_spread_m * draw.standard_t(TAIL, (spot.max(initial=0) + 1, 2))
    coarse = draw.random(visits) < COARSE_SHARE
    own_m[coarse] = draw.normal(0, COARSE_M, (coarse.sum(), 2))
    recurs = ~coarse & (draw.random(visits) < RECURRING_SHARE)
    error_m = np.where(recurs[visit][:, None], recurring_m[spot], own_m[visit])
    jitters = (draw.random(len(visit)) < JITTER_SHARE)[:, None]
    return error_m + jitters * draw.normal(0, JITTER_M, error_m.shape)


def last_known(found: Flags) -> Index:
    """For each burst the last one with a fix; the first one always has one."""
    return np.maximum.accumulate(np.where(found, np.arange(len(found)), 0))
