"""Simulated people in any area: those of the campus world, placed into it."""

from collections.abc import Iterable, Iterator
from itertools import count, islice
from math import ceil

import numpy as np

from veilmap.area import Area
from veilmap.attacks.person import Person
from veilmap.local_data import LocalData
from veilmap.sources.campus.residents import Resident, residents
from veilmap.sources.campus.world import Campus

# The world has sides and days within these bounds.
SIDES_M = (500.0, 20_000.0)
DAYS = (77, 365)  # people log some days of many
DAY_S = 86_400.0
# Home is in a round's data if the phone measured this near to it.
AT_HOME_M = 50.0
LEAST_ROUNDS_AT_HOME = 3
# Of so many people in a row without a home in their data no more are drawn.
PATIENCE = 200


def campus_people(
    area: Area, interval_s: float, rounds: int, people: int, seed: int, first: int = 0
) -> Iterator[Person]:
    """People with a home in their data: a measurement near it in three rounds, or in all of fewer.

    The world has the sides of the area and lasts as long as the rounds, at least eleven weeks, of
    which each person has the first ``rounds`` rounds with data. People are counted from ``first``;
    fewer come if rounds are so short or areas so wide that homes are rarely seen.
    """
    sides_m = (float(np.clip(side, *SIDES_M)) for side in (area.width_m, area.height_m))
    days = int(np.clip(ceil(rounds * interval_s / DAY_S), *DAYS))
    width_m, height_m = sides_m
    world = Campus(days=days, presence_days=days, width_m=width_m, height_m=height_m)
    least = min(LEAST_ROUNDS_AT_HOME, rounds)
    everyone = (placed(r, area, interval_s, rounds) for r in residents(seed, world, count(first)))
    yield from islice(_at_home(everyone, least), people)


def _at_home(everyone: Iterable[Person], least: int) -> Iterator[Person]:
    missed = 0
    for person in everyone:
        if _rounds_at_home(person) >= least:
            missed = 0
            yield person
        elif (missed := missed + 1) >= PATIENCE:
            return


def placed(resident: Resident, area: Area, interval_s: float, rounds: int) -> Person:
    """In the middle of the area, with the data cut into rounds from the world's first midnight."""
    data, number = resident.data, np.floor(resident.data.time_s / interval_s).astype(np.int64) + 1
    moved = LocalData(data.xy_m + area.centre_m, data.rsrp_dbm, data.time_s)
    cut = {int(t): moved.take(np.flatnonzero(number == t)) for t in np.unique(number)[:rounds]}
    return Person(f"shadow {resident.number}", resident.home_m + area.centre_m, cut)


def _rounds_at_home(person: Person) -> int:
    return sum(
        bool((np.hypot(*(data.xy_m - person.home_m).T) <= AT_HOME_M).any())
        for data in person.rounds.values()
    )
