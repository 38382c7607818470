"""Homes, workplaces and third places, and the plan of every day."""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.campus.radio import RadioNetwork
from veilmap.sources.campus.streets import WALKING_M_S, Routes, Streets
from veilmap.sources.campus.world import EVENLY, Array, Campus, Index
from veilmap.streams import stream

DAY_S = 86_400.0
HOME, WORK = 0, 1
VENUES = 12  # cafés, shops, a gym, a library: shared by all
THIRD_PLACES = 5  # that one person visits, the first of them most often
# South-west and north-east corners, as shares of width and height from the middle: housing lies in
# the east, the campus in the west.
HOMES = ((0.20, -0.48), (0.48, 0.48))
WORKPLACES = ((-0.42, -0.35), (-0.10, 0.35))
VENUES_IN = ((-0.48, -0.48), (0.0, 0.48))
# The first person is the paper's target: home at the right edge, work on the left, and one cell
# that is strong at home and still heard at work, this much below the strongest.
FIRST_HOME = ((0.35, -0.06), (0.39, 0.06))
FIRST_WORK = ((-0.34, -0.15), (-0.18, 0.15))
FRINGE_DB = 10.0
CANDIDATES = 128
# Visits of a day: chance, begin and its spread, duration and its spread (hours). On weekdays the
# second is lunch, between two visits to work.
WEEKDAY = (
    (0.90, 8.3, 0.4, 3.9, 0.2),
    (0.50, 12.3, 0.3, 0.7, 0.1),
    (0.90, 13.1, 0.2, 5.2, 0.6),
    (0.35, 19.6, 0.7, 1.5, 0.5),
)
WEEKEND = (
    (0.00, 8.0, 0.1, 0.1, 0.1),
    (0.60, 11.5, 1.2, 2.0, 0.6),
    (0.15, 14.5, 0.5, 2.0, 0.5),
    (0.50, 18.5, 1.2, 2.5, 0.7),
)
HABITS = np.array([WEEKDAY, WEEKEND])
TO_WORK = np.array([[True, False, True, False], [False, False, True, False]])
SHORTEST_H = 0.2
HOME_WORTH_S = 7200.0  # with less time than this between two visits people do not go home


@dataclass(frozen=True)
class Stays:
    """Where and when one person stays, in order of time; people walk between two stays."""

    place: Index
    arrive_s: Array
    leave_s: Array
    way: Index  # which of ``routes`` leads on to the next stay
    routes: Routes
    places_m: Array

    def at(self, time_s: Array) -> Index:
        """The stay at each moment, or the last one before it."""
        return np.searchsorted(self.arrive_s, time_s, side="right") - 1


def live(world: Campus, streets: Streets, network: RadioNetwork, seed: int, person: int) -> Stays:
    """The whole time of one person, day by day."""
    places_m = places(world, network, seed, person)
    place, leave_s = _plan(world, stream(seed, "campus", "plan", person))
    onward = np.r_[place[1:], place[-1]]
    ways, way = np.unique(np.column_stack([place, onward]), axis=0, return_inverse=True)
    routes = streets.routes(places_m[ways[:, 0]], places_m[ways[:, 1]])
    walks_s = np.r_[0.0, np.cumsum(routes.travelled_m[way, -1] / WALKING_M_S)]
    # People arrive before they leave: less the walks, departure times increase.
    stayed_s = np.maximum.accumulate(leave_s - walks_s[:-1])
    arrive_s = np.r_[0.0, (stayed_s + walks_s[1:])[:-1]]
    return Stays(place, arrive_s, stayed_s + walks_s[:-1], way, routes, places_m)


def places(world: Campus, network: RadioNetwork, seed: int, person: int) -> Array:
    """Home, work, then this person's third places, the favourite first."""
    corner = stream(seed, "campus", "venues").random(2)
    west, east = np.array(VENUES_IN)
    venues = west + (east - west) * ((corner + np.arange(VENUES)[:, None] * EVENLY) % 1)
    draw = stream(seed, "campus", "places", person)
    liked = draw.choice(VENUES, THIRD_PLACES, replace=False)
    if person == 0:
        home, work = _first_places(world, network, draw)
    else:
        home, work = draw.uniform(*HOMES), draw.uniform(*WORKPLACES)
    return np.vstack([home, work, venues[liked]]) * world.size_m


def _first_places(
    world: Campus, network: RadioNetwork, draw: np.random.Generator
) -> tuple[Array, Array]:
    """(home, work): of several homes the one with the clearest cell, and work at its edge."""
    homes, works = (draw.uniform(*box, (CANDIDATES, 2)) for box in (FIRST_HOME, FIRST_WORK))
    indoors = np.ones(CANDIDATES, bool)
    at_home = network.received_db(world, homes * world.size_m, indoors)
    at_work = network.received_db(world, works * world.size_m, indoors)
    ranked = np.sort(at_home, axis=0)
    home = (ranked[-1] - ranked[:-1].max(axis=0, initial=-np.inf)).argmax()
    behind_db = at_work.max(axis=0) - at_work[at_home[:, home].argmax()]
    return homes[home], works[np.abs(behind_db - FRINGE_DB).argmin()]


def _plan(world: Campus, draw: np.random.Generator) -> tuple[Index, Array]:
    """(place, departure) of all stays of one person."""
    day = np.arange(world.days)
    kind = (day % 7 >= 5).astype(int)
    chance, begin, begin_spread, lasts, lasts_spread = np.moveaxis(HABITS[kind], 2, 0)
    noise = draw.normal(size=(2, *chance.shape))
    begin_h = 24 * day[:, None] + begin + begin_spread * noise[0]
    end_h = begin_h + np.maximum(lasts + lasts_spread * noise[1], SHORTEST_H)
    luck = draw.random(chance.shape)
    # People at work before lunch return there after it.
    luck[:, 2] = np.where(kind == 0, luck[:, 0], luck[:, 2])
    goes = luck < chance
    likes = 1 / np.arange(1, THIRD_PLACES + 1)
    third = 2 + draw.choice(THIRD_PLACES, chance.shape, p=likes / likes.sum())
    place = np.where(TO_WORK[kind], WORK, third)[goes]
    return home_between(place, 3600 * begin_h[goes], 3600 * end_h[goes], world.days * DAY_S)


def home_between(place: Index, begin_s: Array, end_s: Array, until_s: float) -> tuple[Index, Array]:
    """Home first, last, and in every long gap between visits."""
    next_s = np.r_[begin_s, np.inf][1:]
    goes_home = next_s - end_s > HOME_WORTH_S
    after = np.r_[0, np.flatnonzero(goes_home) + 1]
    leaves_home_s = np.minimum(np.r_[begin_s, np.inf][:1], until_s)
    leaves_home_s = np.r_[leaves_home_s, np.minimum(next_s[goes_home], until_s)]
    places = np.insert(place, after, HOME)
    leave_s = np.insert(np.minimum(end_s, next_s), after, leaves_home_s)
    moves = np.r_[places[1:] != places[:-1], True]
    return places[moves], leave_s[moves]
