import numpy as np
import pytest

from tests.inspection.tables import measured, steps
from veilmap.area import Area
from veilmap.inspection.maps import dots, each_user, frame_around, overview


def test_a_frame_holds_all_points_with_a_margin():
    frame = frame_around(np.array([[0.0, 0.0], [1000.0, 800.0]]))
    assert (frame.width_m, frame.height_m) == pytest.approx((1080, 864))
    assert frame.centre_m == pytest.approx([500, 400])


def test_one_place_gets_a_frame_of_200_m():
    frame = frame_around(np.array([[50.0, 70.0]] * 3))
    assert (frame.width_m, frame.height_m) == pytest.approx((216, 216))


def test_a_narrow_road_gets_a_frame_that_is_not_too_narrow():
    road = np.column_stack([np.arange(0, 9001, 100.0), np.zeros(91)])
    frame = frame_around(road)
    assert frame.width_m / frame.height_m == pytest.approx(1.8)
    square = frame_around(road, widest=1.0)
    assert square.width_m == pytest.approx(square.height_m)


def test_few_far_places_do_not_shrink_the_others():
    town = np.random.default_rng(0).uniform(0, 1000, (1000, 2))
    frame = frame_around(np.vstack([town, [[90_000.0, 500.0]]]))
    assert frame.width_m < 1100
    assert not frame.contains(np.array([[90_000.0, 500.0]])).any()


def test_a_home_measured_a_thousand_times_does_not_push_the_way_to_work_out():
    way = np.column_stack([np.linspace(0, 3000, 50), np.zeros(50)])
    home = np.repeat([[0.0, 0.0], [10.0, 0.0]], 5000, axis=0)
    assert frame_around(np.vstack([home, way])).contains(way).all()


def test_points_of_one_small_square_become_one_dot_with_their_means():
    """Squares of 400 m / 400 = 1 m: the first two points share one, the third has its own."""
    frame = Area(0.0, 0.0, 400.0, 400.0)
    xy_m = np.array([[10.2, 20.2], [10.4, 20.8], [300.5, 20.5]])
    dot_xy_m, dot_dbm = dots(xy_m, np.array([-90.0, -100.0, -70.0]), frame)
    np.testing.assert_allclose(dot_xy_m, [[10.3, 20.5], [300.5, 20.5]])
    np.testing.assert_allclose(dot_dbm, [-95, -70])


def town(users):
    """User k measures 10 - k times at its own place."""
    return measured(
        *(row for k in range(users) for row in steps(f"u{k}", "c", range(10 - k), east=k / 1000))
    )


def test_the_overview_has_all_users_and_the_two_densest_in_one_frame():
    maps = overview(town(3))
    assert [(panel.title, panel.points) for panel in maps.panels] == [
        ("all 3 users", 27), ("user u0", 10), ("user u1", 9),
    ]  # fmt: skip
    assert len({panel.frame for panel in maps.panels}) == 1
    assert maps.panels[0].frame.centre_m == pytest.approx([0, 0])
    assert len(maps.panels[0].xy_m) == 3


def test_positions_are_metres_from_the_middle():
    """A thousandth of a degree of longitude is 69.4 m at 51.5° north; the middle is between."""
    maps = overview(town(2))
    east_m = [float(panel.xy_m[0, 0]) for panel in maps.panels[1:]]
    assert east_m == pytest.approx([-34.7, 34.7], abs=0.2)


def test_one_user_alone_is_shown_once():
    assert [panel.title for panel in overview(town(1)).panels] == ["user u0"]


def test_each_of_eight_users_has_a_frame_around_itself():
    maps = each_user(town(9))
    assert [panel.title for panel in maps.panels] == [f"user u{k}" for k in range(8)]
    for panel in maps.panels:
        assert panel.frame.centre_m == pytest.approx(panel.xy_m[0])
        assert panel.outside == 0


def test_points_outside_the_frame_are_counted():
    far = steps("u", "c", [500, 501], east=1.0)
    near = [("u", "c", hour, 0.0, hour / 1e5, -90) for hour in range(300)]
    (panel,) = overview(measured(*near, *far)).panels
    assert (panel.points, panel.outside) == (302, 2)


def test_the_colours_leave_out_the_outermost_hundredths():
    rows = [("u", "c", hour, 0.0, 0.0, -50 - hour) for hour in range(101)]
    assert overview(measured(*rows)).range_dbm == pytest.approx((-149, -51))
