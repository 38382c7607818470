import json
from dataclasses import asdict, fields
from datetime import UTC, datetime

import numpy as np
import pytest

from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.local_data import LocalData
from veilmap.metrics.distances import random_emd_m
from veilmap.metrics.scores import Scores, score, true_places
from veilmap.metrics.transport import emd_m

AREA = Area(0, 0, 2000, 1000)
HOME, WORK = (1800.0, 500.0), (200.0, 500.0)
MONDAY_S = datetime(2024, 1, 8, tzinfo=UTC).timestamp()
HOUR_S, WEEK_S = 3600.0, 604_800.0
NOWHERE = (np.nan, np.nan)


def at(*xy_m, start_s=MONDAY_S):
    """One point a minute."""
    n = len(xy_m)
    return LocalData(np.array(xy_m, float), np.zeros(n), start_s + 60.0 * np.arange(n))


def heap(*xy_m, weights=None):
    return np.array(xy_m, float), np.ones(len(xy_m)) if weights is None else np.array(weights)


def scored(truth, found_m, clouds=None, interval_s=HOUR_S, start_s=None, **more):
    rounds = len(truth)
    given = {
        "clouds": [heap(xy_m) for xy_m in found_m] if clouds is None else clouds,
        "n": [len(data) for data in truth],
        "area": AREA,
        "interval_s": interval_s,
        "timezone": "UTC",
        "start_s": [MONDAY_S] * rounds if start_s is None else start_s,
        "iterations": np.arange(rounds),
        "seconds": [0.5] * rounds,
        "seed": 0,
    }
    return score(truth, found_m, **(given | more))


def a_day():
    """An hour at home on each of two nights with 15 points, and three at work with 20 each."""
    starts_s = MONDAY_S + HOUR_S * np.array([2.0, 10.0, 11.0, 12.0, 23.0])
    spots, sizes = [HOME, WORK, WORK, WORK, HOME], [15, 20, 20, 20, 15]
    truth = [
        at(*[spot] * n, start_s=start_s)
        for spot, n, start_s in zip(spots, sizes, starts_s, strict=True)
    ]
    return truth, starts_s


def test_a_perfect_attack_has_no_error():
    truth, start_s = a_day()
    clouds = [heap(*data.xy_m) for data in truth]
    found = scored(truth, [data.centroid_m for data in truth], clouds, start_s=start_s)
    assert found.rounds == 5
    assert (found.cloud_emd_m, found.round_emd_m) == (pytest.approx(0, abs=1e-9), 0)
    assert (found.diverged_share, found.distance_m, found.distance_median_m) == (0, 0, 0)
    assert (found.recall_25m, found.recall_50m, found.recall_100m) == (1, 1, 1)
    assert (found.home_error_m, found.work_error_m, found.home_by) == (0, 0, "hours")
    assert np.array([place.xy_m for place in found.places]) == pytest.approx(np.array([WORK, HOME]))
    assert (found.true_home_by, found.no_home) == ("hours", None)
    assert (found.iterations, found.seconds) == (2, 2.5)


def test_places_that_are_known_already_change_nothing():
    truth, start_s = a_day()
    found_m = [WORK, HOME, HOME, WORK, WORK]
    known = true_places(truth, "UTC")
    assert scored(truth, found_m, start_s=start_s, places_in_truth=known) == scored(
        truth, found_m, start_s=start_s
    )
    none = scored(truth, found_m, start_s=start_s, places_in_truth=known[:1])
    assert none.recall_50m == 1
    assert known[:1] != known


def test_locations_count_equally_and_clouds_by_their_points():
    """2/5 of the locations but 1/3 of the points are at home, 1,600 m away: 1/15 must move."""
    truth, start_s = a_day()
    found = scored(truth, [data.centroid_m for data in truth], start_s=start_s)
    assert found.emd_m == pytest.approx(1600 / 15 * 2 / np.pi, rel=1e-5)
    assert found.emd_paper == pytest.approx(np.sqrt(found.emd_m))
    assert found.cloud_emd_m == pytest.approx(0, abs=1e-9)


def test_the_hour_of_a_short_round_tells_home():
    """Two thirds of the weight are at work, so that only nights can tell home."""
    truth, start_s = a_day()
    found_m = np.add([data.centroid_m for data in truth], (30, 40))
    by_hours = scored(truth, found_m, start_s=start_s, interval_s=3 * HOUR_S)
    assert (by_hours.home_by, by_hours.home_error_m) == ("hours", pytest.approx(50))
    assert by_hours.work_error_m == pytest.approx(50)
    by_weight = scored(truth, found_m, start_s=start_s, interval_s=4 * HOUR_S)
    assert (by_weight.home_by, by_weight.work_error_m) == ("weight", None)
    assert by_weight.home_error_m == pytest.approx(np.hypot(1600 - 30, 40))


def test_a_round_has_the_hour_of_its_middle():
    """From 05:45 on, the middle of 2.4 h is 06:57, that of 2.6 h 07:03, which is no night."""
    truth, found_m = [at(HOME, WORK, WORK)] * 2, [WORK, WORK]
    early = [MONDAY_S + day * 24 * HOUR_S + 5.75 * HOUR_S for day in (0, 1)]
    assert scored(truth, found_m, start_s=early, interval_s=2.4 * HOUR_S).home_by == "hours"
    assert scored(truth, found_m, start_s=early, interval_s=2.6 * HOUR_S).home_by == "weight"


def test_hours_are_those_of_the_time_zone():
    """Noon in London is 04:00 in Los Angeles."""
    noon = [MONDAY_S + day * 24 * HOUR_S + 12 * HOUR_S for day in (0, 1)]

    def by_clock_of(timezone):
        truth = [at(HOME, start_s=start_s) for start_s in noon]
        found = scored(truth, [HOME, HOME], start_s=noon, timezone=timezone)
        return found.home_by, found.true_home_by

    assert by_clock_of("America/Los_Angeles") == ("hours", "hours")
    assert by_clock_of("Europe/London") == ("weight", "weight")


def test_a_drive_by_day_has_a_heaviest_place_and_no_home():
    """The home error is then that of the heaviest place, and the reason is written beside it."""
    noon = MONDAY_S + 12 * HOUR_S
    found = scored([at(WORK, WORK, HOME, start_s=noon)], [WORK], start_s=[noon])
    assert (found.home_error_m, found.true_home_by) == (0, "weight")
    assert found.no_home == "no measurement between 22:00 and 07:00 at a main place"


def test_diverged_rounds_by_hand():
    """Distances 30, 10,000 (outside), none, 50: half diverged, mean 40, median (50 + 10,000)/2."""
    truth = [at((100, 100))] * 4
    found = scored(truth, [(130, 100), (10_100, 100), NOWHERE, (100, 150)])
    assert found.diverged_share == 0.5
    assert found.distance_m == 40
    assert found.distance_median_m == 5025
    assert found.emd_m == pytest.approx(40 * 2 / np.pi, rel=1e-3)
    assert found.cloud_emd_m == pytest.approx(40 * 2 / np.pi, rel=1e-3)
    assert found.round_emd_m is None


def test_no_location_in_most_rounds_leaves_no_median():
    found = scored([at((100, 100))] * 3, [(130, 100), NOWHERE, (np.inf, 0)])
    assert (found.distance_median_m, found.distance_m) == (None, 30)


def test_only_the_five_largest_true_places_count():
    """Six places of weights 6 to 1; the one of 1 is found and the other five are not."""
    spots = [(300.0 * i, 900.0) for i in range(6)]
    truth = [at(*(spot for i, spot in enumerate(spots) for _ in range(6 - i)))]
    for spot, share in ((spots[5], 0), (spots[4], 0.2)):
        found = scored(truth, [spot])
        assert (found.recall_25m, found.recall_50m, found.recall_100m) == (share,) * 3


def test_recall_is_taken_at_25_50_and_100_m():
    for off_m, recalls in [(20, (1, 1, 1)), (40, (0, 1, 1)), (90, (0, 0, 1)), (110, (0, 0, 0))]:
        found = scored([at((500, 500))], [(500 + off_m, 500)])
        assert (found.recall_25m, found.recall_50m, found.recall_100m) == recalls


def test_the_reference_has_as_many_points_as_were_found():
    truth = [at((100, 100))] * 3
    one = scored(truth, [(100, 100), NOWHERE, NOWHERE])
    three = scored(truth, [(100, 100)] * 3)
    for found, points in ((one, 1), (three, 3)):
        guessed_m = random_emd_m(np.full((3, 2), 100.0), AREA, points, seed=0)
        assert found.emd_random_m == pytest.approx(np.mean(guessed_m), rel=1e-9)
    # Guesses about a user in the corner are 900 to 1,300 m off; the projection shows 2/π of it.
    assert 400 < three.emd_random_m < 900
    assert three.emd_random_paper == pytest.approx(np.sqrt(three.emd_random_m), rel=0.1)


def test_equal_seeds_give_equal_scores():
    truth, start_s = a_day()
    found_m = [data.centroid_m for data in truth]
    assert scored(truth, found_m, start_s=start_s) == scored(truth, found_m, start_s=start_s)
    other = scored(truth, found_m, start_s=start_s, seed=1)
    assert other.emd_random_m != scored(truth, found_m, start_s=start_s).emd_random_m


def test_one_point_and_one_location():
    found = scored([at((100, 100))], [(103, 104)])
    assert found.distance_m == found.distance_median_m == 5
    assert found.emd_m == pytest.approx(emd_m([[100, 100]], [[103, 104]]))


NEVER_FOUND = {
    "emd_m", "emd_paper", "emd_random_m", "emd_random_paper", "cloud_emd_m", "round_emd_m",
    "distance_m", "distance_median_m", "nearest_m", "home_error_m", "work_error_m", "home_by",
}  # fmt: skip


def test_an_attack_that_finds_nothing_has_scores():
    truth, start_s = a_day()
    nothing = scored(truth, [NOWHERE] * 5, start_s=start_s)
    assert {name for name, value in vars(nothing).items() if value is None} == NEVER_FOUND | {
        "no_home"
    }
    assert (nothing.diverged_share, nothing.recall_100m, nothing.places) == (1, 0, ())


def test_an_attack_that_is_always_outside_keeps_its_median_distance():
    outside = scored([at((100, 100))] * 2, [(-900, 100)] * 2)
    assert (outside.diverged_share, outside.distance_m, outside.distance_median_m) == (
        1,
        None,
        1000,
    )
    assert (outside.emd_m, outside.cloud_emd_m) == (None, None)


@pytest.mark.parametrize("found_m", [[], np.zeros((0, 2))])
def test_no_rounds_have_scores(found_m):
    nothing = scored([], found_m)
    assert nothing == Scores(rounds=0)
    assert set(vars(nothing).values()) == {0, None, ()}


def test_scores_are_json_without_true_positions():
    secret = (123.456, 765.432)
    found = scored([at(secret, secret)], [(130, 700)])
    text = json.dumps(asdict(found), allow_nan=False)
    assert json.loads(text)["places"][0]["xy_m"] == [130, 700]
    assert "123.45" not in text
    assert "765.43" not in text


def test_every_figure_is_a_float_or_none():
    truth, start_s = a_day()
    found = scored(truth, [data.centroid_m for data in truth], start_s=start_s)
    others = {"rounds": int, "home_by": str, "true_home_by": str, "places": tuple}
    for field in fields(Scores):
        if field.name == "no_home":
            continue  # this user has one
        assert type(getattr(found, field.name)) is others.get(field.name, float), field.name


def test_figures_are_all_but_the_places():
    found = scored([at((100, 100))], [(103, 104)])
    assert found.figures()["distance_m"] == 5
    assert {*vars(found)} - {*found.figures()} == {"places"}


def test_a_figure_that_is_not_defined_is_a_dash():
    figures = Scores(rounds=0, emd_m=1234.5)
    assert (figures.text("distance_m", ",.0f"), figures.text("home_by")) == ("-", "-")
    assert figures.text("emd_m", ",.1f") == "1,234.5"
    assert figures.text("emd_m") == "1234.5"


def test_scores_refuse_a_figure_that_is_not_finite():
    with pytest.raises(UserError, match="emd_m must be finite or None, got nan"):
        Scores(rounds=1, emd_m=np.nan)


def test_a_round_may_be_shorter_than_a_second():
    assert scored([at((100, 100))], [(103, 104)], interval_s=0.5).distance_m == 5


ONE = [at((100, 100))]
MISUSES = {
    "locations": ((ONE, [[1, 1], [2, 2]]), {"clouds": []}, r"got shape \(2, 2\) for 1 round"),
    "clouds": ((ONE, [[1, 1]]), {"clouds": []}, "clouds must be one per round, got 0 for 1"),
    "a cloud": ((ONE, [[1, 1]]), {"clouds": [([1], [1])]}, "cloud 1 of 1 must have one row"),
    "interval": ((ONE, [[1, 1]]), {"interval_s": 0.0}, "interval_s must be above 0 seconds"),
    "starts": ((ONE, [[1, 1]]), {"start_s": []}, r"start_s must be one finite .* shape \(0,\)"),
    "seconds": ((ONE, [[1, 1]]), {"seconds": [np.nan]}, "seconds must be .* 1 not finite"),
    "iterations": ((ONE, [[1, 1]]), {"iterations": 3}, "iterations must be one finite value"),
    "no points": (([at()], [[1, 1]]), {}, "round 1 of 1 has no true points; leave it out"),
    "truth": ((ONE, [[1, 1]] * 2), {"n": [1, 1]}, "truth must be one per round, got 1 for 2 rou"),
    "zone": ((ONE, [[1, 1]]), {"timezone": "Mars"}, "unknown time zone 'Mars'"),
    "no rounds": (([], [[1, 1]]), {"clouds": []}, r"got shape \(1, 2\) for 0 rounds"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_is_one_line(misuse):
    arguments, more, message = MISUSES[misuse]
    with pytest.raises(UserError, match=message):
        scored(*arguments, **more)


def test_without_the_truth_there_is_what_needs_none():
    truth, start_s = a_day()
    found_m = [data.centroid_m for data in truth]
    known = scored(truth, found_m, start_s=start_s)
    blind = score(
        None,
        found_m,
        [heap(xy_m) for xy_m in found_m],
        n=[len(data) for data in truth],
        area=AREA,
        interval_s=HOUR_S,
        timezone="UTC",
        start_s=start_s,
        iterations=np.arange(5),
        seconds=[0.5] * 5,
        seed=0,
    )
    assert (blind.rounds, blind.places, blind.home_by) == (5, known.places, "hours")
    assert (blind.diverged_share, blind.iterations, blind.seconds) == (0, 2, 2.5)
    assert (blind.emd_m, blind.distance_m, blind.recall_50m, blind.home_error_m) == (None,) * 4


def test_a_place_that_was_visited_is_near_though_the_centroid_is_far():
    """Nine points at home and one at work, which is found: 1,440 m from the mean of the ten."""
    found = scored([at(*[HOME] * 9, WORK)] * 3, [WORK] * 3)
    assert (found.nearest_m, found.distance_median_m) == (0, pytest.approx(1440))
    assert 100 < found.nearest_random_m < 1600
