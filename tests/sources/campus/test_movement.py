"""Streets, the days of people, and when their phones log."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components, dijkstra

from veilmap.sources.campus.logger import BY_NIGHT, MORE_ON_FOOT, is_night, moments
from veilmap.sources.campus.people import HOME, WORK, home_between, live
from veilmap.sources.campus.radio import RadioNetwork
from veilmap.sources.campus.streets import WALKING_M_S, Routes, Streets
from veilmap.sources.campus.world import Campus
from veilmap.streams import stream

WORLD = Campus()
DAY_S = 86_400


@pytest.fixture(scope="module")
def streets():
    return Streets.draw(WORLD, stream(0, "streets"))


@pytest.fixture(scope="module")
def stays(streets):
    return live(WORLD, streets, RadioNetwork.draw(WORLD, 0, 0), 0, 0)


def test_every_crossing_can_be_reached(streets):
    assert connected_components(streets.lengths_m, directed=False)[0] == 1


def test_a_route_is_as_long_as_the_shortest_way(streets):
    starts, ends = streets.crossings_m[[0, 7, 40]], streets.crossings_m[[100, 7, 3]]
    shortest_m = dijkstra(streets.lengths_m, directed=False, indices=[0, 7, 40])
    routes = streets.routes(starts, ends)
    np.testing.assert_allclose(routes.travelled_m[:, -1], shortest_m[[0, 1, 2], [100, 7, 3]])


def test_a_walker_on_an_angled_way_is_where_the_distance_says():
    """3 m east, then 4 m north: after 5 m one is at (3, 2)."""
    routes = Routes(np.array([[[0.0, 0], [3, 0], [3, 4]], [[9.0, 9], [9, 9], [9, 9]]]))
    way = np.array([0, 0, 0, 0, 1])
    here_m = routes.at(way, np.array([0.0, 1, 5, 99, 2]))
    np.testing.assert_allclose(here_m, [[0, 0], [1, 0], [3, 2], [3, 4], [9, 9]])


def test_stays_follow_one_another_with_a_walk_between(stays):
    assert (stays.leave_s >= stays.arrive_s).all()
    walk_s = stays.arrive_s[1:] - stays.leave_s[:-1]
    length_m = stays.routes.travelled_m[stays.way[:-1], -1]
    np.testing.assert_allclose(walk_s * WALKING_M_S, length_m, atol=1e-6)


def test_home_is_first_last_and_in_long_gaps_only():
    """Work from hour 1 to 2 and 3 to 4, a café from 9 to 10, until hour 20."""
    begin_h, end_h = np.array([1.0, 3, 9]), np.array([2.0, 4, 10])
    place, leave_s = home_between(np.array([1, 1, 2]), 3600 * begin_h, 3600 * end_h, 72_000.0)
    assert place.tolist() == [0, 1, 0, 2, 0]
    assert (leave_s / 3600).tolist() == [1, 4, 9, 10, 20]


def test_a_person_without_a_visit_stays_at_home():
    nothing = np.array([])
    place, leave_s = home_between(nothing.astype(int), nothing, nothing, 72_000.0)
    assert (place.tolist(), leave_s.tolist()) == ([HOME], [72_000.0])


def test_people_sleep_at_home_and_work_on_weekdays(stays):
    nights = np.arange(WORLD.days - 1) * DAY_S + 4 * 3600.0
    assert (stays.place[stays.at(nights)] == HOME).mean() > 0.95
    noons = np.arange(WORLD.days - 1) * DAY_S + 11 * 3600.0
    at_work = stays.place[stays.at(noons)] == WORK
    weekend = np.arange(WORLD.days - 1) % 7 >= 5
    assert at_work[~weekend].mean() > 0.8
    assert at_work[weekend].mean() < 0.1
    back = stays.place[stays.at(noons + 4 * 3600)] == WORK
    assert (back == at_work)[~weekend].mean() > 0.97


def test_the_logger_runs_on_the_wanted_share_of_days(stays):
    when = moments(WORLD, stays, 0, 0)
    days = np.unique(when.start_s // DAY_S)
    assert len(days) == round(WORLD.logged_days * WORLD.stretch_days)
    assert np.ptp(days) < WORLD.presence_days


def test_bursts_are_more_on_foot_and_fewer_by_night(stays):
    when = moments(WORLD, stays, 0, 0)
    assert (np.diff(when.start_s) >= 0).all()
    days = np.unique(when.start_s // DAY_S)[:, None] * DAY_S
    # By day the logger runs from 7 to 18 at least.
    time_s = (days + np.arange(7 * 3600, 18 * 3600, 10.0)).ravel()
    walking = time_s > stays.leave_s[stays.at(time_s)]
    of_day = when.start_s % DAY_S
    by_day = (of_day >= 7 * 3600) & (of_day < 18 * 3600)
    on_foot = (by_day & when.walking).sum() / walking.sum()
    at_rest = (by_day & ~when.walking).sum() / (~walking).sum()
    assert on_foot / at_rest == pytest.approx(MORE_ON_FOOT, rel=0.1)
    all_night = days[
        [((of_day < 3600) & (when.start_s // DAY_S == d // DAY_S)).any() for d in days]
    ]
    asleep = is_night(when.start_s) & np.isin(when.start_s // DAY_S, all_night // DAY_S)
    per_10_s = asleep.sum() / (len(all_night) * 7 * 360)
    assert per_10_s / at_rest == pytest.approx(BY_NIGHT, rel=0.15)
