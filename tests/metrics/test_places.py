import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veilmap.errors import UserError
from veilmap.metrics import places as module
from veilmap.metrics.hours import Hours
from veilmap.metrics.places import NoHome, Place, find_places, likely_home, likely_work

FAR = np.array([500_000.0, 5_700_000.0])
# Ten metres apart, so that every point has its own square and its mean is the point.
POINTS = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.just(2)),
    elements=st.integers(0, 30).map(lambda tens: tens * 10.0),
)


def by_brute_force(xy_m, weights, radius_m):
    """The same definition, with all distances and no squares: positions and shares."""
    left, found = np.arange(len(xy_m)), []
    within = np.linalg.norm(xy_m[:, None] - xy_m, axis=-1) <= radius_m
    while len(left):
        discs = [left[within[i, left]] for i in left]
        inside = max(discs, key=lambda disc: weights[disc].sum())
        mean_m = np.average(xy_m[inside], axis=0, weights=weights[inside])
        found.append((*mean_m, weights[inside].sum() / weights.sum()))
        left = np.setdiff1d(left, inside)
    return found


@given(POINTS)
def test_places_are_those_of_the_brute_force_search(xy_m):
    xy_m = np.unique(xy_m, axis=0)
    # Uneven weights, because equally good discs leave different rests.
    weights = np.random.default_rng(0).uniform(1, 2, len(xy_m))
    found = find_places(xy_m + FAR, weights, most=len(xy_m))
    facts = [(*(place.xy_m - FAR), place.share) for place in found]
    np.testing.assert_allclose(facts, by_brute_force(xy_m, weights, 50.0), atol=1e-6)


def test_three_heaps_by_hand():
    """(0, 0) and (40, 0) share a disc: weight 3 of 10 at x = 40/3; 5 lies at 500, 2 at 900."""
    xy_m = [[0, 0], [40, 0], [500, 0], [900, 0]]
    found = find_places(np.array(xy_m) + FAR, [2, 1, 5, 2])
    assert [place.share for place in found] == pytest.approx([0.5, 0.3, 0.2])
    near_m = [np.subtract(place.xy_m, FAR) for place in found]
    np.testing.assert_allclose(near_m, [[500, 0], [40 / 3, 0], [900, 0]], atol=1e-6)
    assert {(place.night_share, place.work_share) for place in found} == {(0, 0)}


def test_a_point_at_the_radius_is_inside():
    assert len(find_places([[0, 0], [50, 0]])) == 1
    assert len(find_places([[0, 0], [50.01, 0]])) == 2
    assert len(find_places([[0, 0], [50.01, 0]], radius_m=60.0)) == 1


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_on_a_grid_are_inside_wherever_the_grid_lies(seed):
    """The middle has four neighbours at the radius, so that 5 of 6 points are one place."""
    grid_m = np.array([[0, 0], [50, 0], [-50, 0], [0, 50], [0, -50], [777, 333]])
    found = find_places(grid_m + np.random.default_rng(seed).uniform(0, 5, 2))
    assert found[0].share == pytest.approx(5 / 6)


def test_a_removed_point_is_no_centre_again():
    """The disc around 0 holds 9 of 11; the two left are 70 m apart, though 46 m from (30, 0)."""
    found = find_places([[0, 0], [-40, 0], [30, 0], [60, 35], [60, -35]], [5, 3, 1, 1, 1])
    assert [round(place.share * 11) for place in found] == [9, 1, 1]


def test_points_of_a_square_of_5_m_are_one_centre():
    """In one square 4.9 m are no distance; across its edge small discs part what is 5 m apart."""
    assert len(find_places([[0, 0], [4.9, 4.9]], radius_m=0.5)) == 1
    assert len(find_places([[0, 0], [5, 0]], radius_m=0.5)) == 2


def test_a_place_keeps_its_digits_far_from_the_origin():
    xy_m = FAR + np.random.default_rng(0).uniform(0, 5, (3000, 2))
    (place,) = find_places(xy_m)
    near_m = np.subtract(place.xy_m, FAR)
    np.testing.assert_allclose(near_m, (xy_m - FAR).mean(axis=0), rtol=0, atol=5e-9)


def test_at_most_so_many_places_are_found():
    xy_m = np.column_stack([np.arange(30) * 1000.0, np.zeros(30)])
    assert len(find_places(xy_m)) == 10
    assert len(find_places(xy_m, most=3)) == 3


def test_the_last_hundredth_is_no_place():
    assert len(find_places([[0, 0], [1000, 0]], [991, 9])) == 1
    assert len(find_places([[0, 0], [1000, 0]], [99, 1])) == 2


def test_one_point_is_one_place():
    assert find_places([[3.0, 4.0]]) == (Place((3.0, 4.0), 1.0, 0.0, 0.0),)


def test_points_without_weight_do_not_move_a_place():
    assert find_places([[0, 0], [30, 0]], [1, 0]) == (Place((0.0, 0.0), 1.0, 0.0, 0.0),)


def test_blocks_change_nothing(monkeypatch):
    xy_m = np.random.default_rng(0).uniform(0, 500, (300, 2))
    whole = find_places(xy_m)
    monkeypatch.setattr(module, "BLOCK", 7)
    assert find_places(xy_m) == whole


def test_forty_thousand_points_on_as_many_squares_hold_the_uniform_share():
    """A disc of 50 m covers 0.785 % of a square kilometre; the fullest ones hold a bit more."""
    xy_m = np.random.default_rng(0).uniform(0, 1000, (40_000, 2))
    found = find_places(xy_m)
    assert len(found) == 10
    assert 0.00785 < found[0].share < 0.011


HOME, WORK, SHOP, GARDEN = [0.0, 0.0], [1000.0, 0.0], [0.0, 1000.0], [150.0, 0.0]


MONDAY = 4  # in days since 1970


def week(*stays):
    """Places of (position, hour, weekday, weight)."""
    xy_m, hour, weekday, weights = (np.array(column) for column in zip(*stays, strict=True))
    return find_places(xy_m, weights, Hours(hour.astype(float), MONDAY + weekday))


def at_night(place, weight=9):
    """Stays on two nights."""
    return (place, 23, 0, weight), (place, 3, 2, weight)


def test_shares_of_night_and_work_by_hand():
    """Nights weigh 3 + 1, working hours 5 + 1; Saturday noon is neither."""
    found = week(
        (HOME, 23, 0, 3), (WORK, 3, 2, 1), (WORK, 10, 2, 5), (HOME, 9, 1, 1), (SHOP, 12, 5, 2)
    )
    assert [place.xy_m for place in found] == [tuple(WORK), tuple(HOME), tuple(SHOP)]
    assert [place.share for place in found] == pytest.approx([6 / 12, 4 / 12, 2 / 12])
    assert [place.night_share for place in found] == [1 / 4, 3 / 4, 0]
    assert [place.work_share for place in found] == pytest.approx([5 / 6, 1 / 6, 0])


def test_home_is_where_the_nights_are():
    found = week(*at_night(HOME, 3), (WORK, 10, 2, 9))
    home = likely_home(found)
    assert (home.place.xy_m, home.by, home.why_heaviest) == (tuple(HOME), "hours", None)
    assert likely_work(found).xy_m == tuple(WORK)


def at_hours(*hours):
    return Hours(np.array(hours, float), np.full(len(hours), MONDAY))


@pytest.mark.parametrize(
    ("hours", "why"),
    [
        (None, NoHome.NO_HOURS),
        (at_hours(12, 12, 12), NoHome.NO_NIGHT),
        (at_hours(12, 23, 23.5), NoHome.ONE_NIGHT),
    ],
)
def test_without_two_nights_there_is_the_heaviest_place_and_why(hours, why):
    home = likely_home(find_places([WORK, HOME, HOME], hours=hours))
    assert (home.place.xy_m, home.by, home.why_heaviest) == (tuple(HOME), "weight", why)


def test_before_and_after_midnight_is_one_night():
    one = week((HOME, 23, 0, 1), (HOME, 3, 1, 1), (WORK, 12, 1, 5))
    assert likely_home(one).why_heaviest is NoHome.ONE_NIGHT
    assert [place.nights for place in one] == [0, 1]


def test_the_nights_of_a_home_are_at_one_place():
    """Two nights, one at each of two places, name no home; a single party is none either."""
    apart = week((HOME, 23, 0, 1), (SHOP, 23, 1, 1), (WORK, 12, 1, 5))
    assert likely_home(apart).why_heaviest is NoHome.ONE_NIGHT
    party = week((SHOP, 23, 4, 50), *at_night(HOME, 3))
    assert likely_home(party).place.xy_m == tuple(HOME)


def test_a_point_without_weight_makes_no_night():
    places = week((HOME, 23, 0, 1), (HOME, 23, 1, 0), (WORK, 12, 1, 5))
    assert max(place.nights for place in places) == 1


def test_who_has_no_home_has_no_work():
    """The heaviest place of a driver is no home from which work could be told."""
    assert likely_work(week((HOME, 8, 0, 9), (WORK, 10, 0, 5))) is None


def test_work_is_more_than_200_m_from_home():
    at_home = (*at_night(HOME), (GARDEN, 10, 0, 5))
    assert likely_work(week(*at_home)) is None
    assert likely_work(week(*at_home, (SHOP, 10, 0, 1))).xy_m == tuple(SHOP)


def test_exactly_200_m_from_home_is_still_home():
    home = Place((0.0, 0.0), share=0.4, night_share=1.0, work_share=0.0, nights=2)
    near, far = (Place((x_m, 0.0), 0.3, 0.0, 0.5) for x_m in (200.0, 200.5))
    assert likely_work([home, near]) is None
    assert likely_work([home, near, far]) is far


def test_work_is_where_most_of_the_working_hours_are():
    some, most, less = ((SHOP, 10, 0, 2), (WORK, 10, 1, 3), ([0.0, 2000.0], 11, 2, 1))
    assert likely_work(week(*at_night(HOME), some, most, less)).xy_m == tuple(WORK)


def test_without_working_hours_there_is_no_work():
    assert likely_work(week(*at_night(HOME), (SHOP, 12, 6, 3))) is None
    assert likely_work(find_places([HOME, WORK])) is None


def test_without_places_there_is_no_home():
    assert likely_home(()) is None
    assert likely_work(()) is None


NIGHT = Hours(np.zeros(1), np.zeros(1, int))
MISUSES = {
    "empty": ({"xy_m": np.zeros((0, 2))}, "the set has no points"),
    "not finite": ({"xy_m": [[np.nan, 0]]}, "the set has 1 non-finite position"),
    "negative": ({"xy_m": [[0, 0]], "weights": [-1]}, "the weights of the set must be finite"),
    "hours": ({"xy_m": np.zeros((2, 2)), "hours": NIGHT}, "one per point, got 1 for 2 points"),
    "radius": ({"xy_m": [[0, 0]], "radius_m": 0.0}, "radius_m must be above 0 metres, got 0.0"),
    "NaN": ({"xy_m": [[0, 0]], "radius_m": np.nan}, "radius_m must be above 0 metres, got nan"),
    "most": ({"xy_m": [[0, 0]], "most": 0}, "most must be at least 1, got 0"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_is_one_line(misuse):
    arguments, message = MISUSES[misuse]
    with pytest.raises(UserError, match=message):
        find_places(**arguments)
