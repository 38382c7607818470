from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from veilmap.errors import UserError
from veilmap.metrics.hours import Hours

# Days since 1970 of a Monday and of a Sunday.
MONDAY, SUNDAY = 4, 10


def hours_of(moment):
    return Hours.local(np.array([moment.timestamp()]), "Europe/Athens")


@pytest.mark.parametrize(
    ("zone", "when"),
    [
        ("Europe/Athens", datetime(2024, 3, 31, 0, tzinfo=UTC)),
        ("America/Los_Angeles", datetime(2024, 11, 3, 8, tzinfo=UTC)),
        ("Australia/Lord_Howe", datetime(2024, 10, 5, 14, tzinfo=UTC)),
        ("Asia/Kathmandu", datetime(1969, 12, 31, tzinfo=UTC)),
    ],
)
def test_every_minute_around_a_change_of_clocks_has_the_hour_of_the_calendar(zone, when):
    time_s = when.timestamp() + 60.0 * np.arange(6 * 60)
    calendar = [datetime.fromtimestamp(moment, ZoneInfo(zone)) for moment in time_s]
    hours = Hours.local(time_s, zone)
    expected = [moment.hour + moment.minute / 60 for moment in calendar]
    assert hours.hour == pytest.approx(expected, abs=1e-9)
    assert hours.weekday.tolist() == [moment.weekday() for moment in calendar]


def test_a_wednesday_half_past_one_by_hand():
    """2024-05-15 10:30 UTC is 13:30 in Athens, a Wednesday."""
    hours = hours_of(datetime(2024, 5, 15, 10, 30, tzinfo=UTC))
    assert (hours.hour.tolist(), hours.weekday.tolist()) == ([13.5], [2])


def test_night_is_from_22_to_7():
    hours = Hours(np.array([0, 6.99, 7, 21.99, 22, 23.5]), np.full(6, SUNDAY))
    assert hours.night.tolist() == [True, True, False, False, True, True]


def test_work_is_from_monday_to_friday_9_to_17():
    hours = Hours(np.array([8.99, 9, 16.99, 17, 12, 12]), MONDAY + np.array([0, 0, 4, 4, 5, 6]))
    assert hours.work.tolist() == [False, True, True, False, False, False]


def test_midnight_may_end_a_day_as_well_as_begin_it():
    hours = Hours(np.array([0.0, 24.0]), np.array([MONDAY, SUNDAY]))
    assert hours.night.tolist() == [True, True]


def test_a_night_is_of_the_day_on_which_it_began():
    """From Monday 22:00 to Tuesday 06:59 is one night; Monday 06:59 is of Sunday's."""
    hours = Hours(np.array([6.99, 22, 24, 0, 6.99]), MONDAY + np.array([0, 0, 0, 1, 1]))
    assert (hours.evening - MONDAY).tolist() == [-1, 0, 0, 0, 0]


def test_rows_are_taken_in_order_and_as_often_as_named():
    taken = Hours(np.array([1.0, 2.0]), np.array([3, 4])).take(np.array([1, 1, 0]))
    assert (taken.hour.tolist(), taken.day.tolist()) == ([2, 2, 1], [4, 4, 3])


def test_no_times_give_no_hours():
    assert len(Hours.local(np.array([]), "UTC")) == 0


@pytest.mark.parametrize("name", ["Europe/Atlantis", "Europe", "../UTC", ""])
def test_an_unknown_time_zone_is_named(name):
    with pytest.raises(UserError, match=f"unknown time zone '{name}'; give an IANA name"):
        Hours.local(np.zeros(1), name)


MISUSES = {
    "not finite": (lambda: Hours.local(np.array([0, 1, np.nan]), "UTC"), "1 of 3 times are not"),
    "too late": (lambda: Hours(np.array([3.0, 25.0]), np.zeros(2, int)), "0 to 24, got 3 to 25"),
    "too early": (lambda: Hours(np.array([-0.5, 3.0]), np.zeros(2, int)), "24, got -0.5 to 3"),
    "NaN": (lambda: Hours(np.array([np.nan]), np.array([0])), "hour must be 0 to 24, got nan"),
    "others": (lambda: Hours(np.zeros(2), np.zeros(3, int)), r"got shapes \(2,\) and \(3,\)"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_is_one_line(misuse):
    call, message = MISUSES[misuse]
    with pytest.raises(UserError, match=message):
        call()
