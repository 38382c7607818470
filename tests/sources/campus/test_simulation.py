from datetime import date

import numpy as np
import polars as pl
import pytest

from tests.conftest import SMALL_WORLD
from veilmap.errors import UserError
from veilmap.sources import campus
from veilmap.sources.campus import Campus


def test_the_same_seed_gives_the_same_world_and_another_another(small_campus):
    assert campus.simulate(0, SMALL_WORLD).fingerprint == small_campus.fingerprint
    assert campus.simulate(1, SMALL_WORLD).fingerprint != small_campus.fingerprint


def test_one_more_user_leaves_the_others_as_they_were():
    world = {"days": 7, "cells": 4}
    fewer = campus.simulate(0, Campus(users=2, **world)).table
    more = campus.simulate(0, Campus(users=3, **world)).table
    assert more.filter(pl.col("user") != "2").equals(fewer)


def test_a_phone_has_one_row_in_a_second(small_campus):
    assert not small_campus.table.select(pl.struct("user", "time").is_duplicated().any()).item()


def test_signals_are_whole_dbm_that_a_phone_can_report(small_campus):
    dbm = small_campus.table["rsrp_dbm"].to_numpy()
    assert np.array_equal(dbm, dbm.round())
    assert -140 <= dbm.min() <= dbm.max() <= -44


def test_coordinates_have_six_decimals_and_repeat(small_campus):
    lat_deg = small_campus.table["lat_deg"].to_numpy()
    assert np.array_equal(lat_deg, lat_deg.round(6))
    places = small_campus.table.select(pl.struct("lat_deg", "lon_deg").n_unique()).item()
    assert places < len(small_campus) / 5


def test_all_rows_lie_on_the_campus(small_campus):
    xy_m = small_campus.table.select("x_m", "y_m").to_numpy()
    assert (np.ptp(xy_m, axis=0) <= SMALL_WORLD.size_m + 1).all()


def test_phones_log_by_day_and_by_night(small_campus):
    hours = small_campus.table["time"].dt.convert_time_zone(small_campus.timezone).dt.hour()
    assert set(range(24)) == set(hours.unique())


def test_users_of_different_providers_share_no_cell(small_campus):
    cells = small_campus.table.group_by("user").agg(pl.col("cell").unique())
    of_user = {user: set(cells) for user, cells in cells.iter_rows()}
    assert not of_user["0"] & of_user["1"]
    assert of_user["0"] & of_user["2"]


def test_any_number_of_users_days_and_cells():
    data = campus.simulate(3, Campus(users=12, days=9, presence_days=5, cells=60))
    assert len(data.users) == 12
    assert 25 < len(data.cells) <= 60
    one = campus.simulate(0, Campus(users=1, days=1, cells=2, logged_days=1.0))
    assert one.users == ["0"]
    assert one.cells == ["x204"]


@pytest.mark.parametrize("seed", range(8))
def test_a_world_of_one_day_is_a_world(seed):
    assert len(campus.simulate(seed, Campus(users=4, days=1, cells=2)).users) == 4


def test_the_rows_of_a_burst_have_one_fix_and_follow_in_three_seconds(small_campus):
    own = small_campus.table.filter(pl.col("user") == "0")
    step_s = own["time"].diff().dt.total_seconds()
    assert step_s.value_counts().sort("count", descending=True)["time"][0] == 3


def test_days_follow_the_clock_on_the_wall_after_it_changes():
    """Summer time began on 12 March 2017; loggers that start in the morning do so from 6 to 7."""
    table = campus.simulate(0).table.filter(pl.col("user") == "0")
    local = table["time"].dt.convert_time_zone("America/Los_Angeles")
    hours = pl.DataFrame({"day": local.dt.date(), "hour": local.dt.hour() + local.dt.minute() / 60})
    starts = hours.group_by("day").agg(pl.col("hour").min()).filter(pl.col("hour") > 3)
    summer = pl.col("day") > date(2017, 3, 12)
    for days in (starts.filter(~summer), starts.filter(summer)):
        assert days.height > 5
        assert 6 <= days["hour"].min() <= days["hour"].median() < 7


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"users": 0}, "users must be from 1 to 1e"),
        ({"users": 2.5}, "users must be a whole number, got 2.5"),
        ({"days": True}, "days must be a whole number, got True"),
        ({"cells": 1}, "cells must be from 2 to 3,000, got 1"),
        ({"width_m": 1e9}, "width_m must be from 500 to 20,000, got 1000000000.0"),
        ({"points_per_hour": 1e9}, "points_per_hour must be from 0 to 3,600, got"),
        ({"mean_dbm": 3.0}, "mean_dbm must be from -130 to -54, got 3.0"),
        ({"shadowing_db": float("nan")}, "shadowing_db must be from 0 to 30, got nan"),
    ],
)
def test_an_impossible_world_is_refused(wrong, message):
    with pytest.raises(UserError, match=message):
        Campus(**wrong)


def test_a_world_without_a_row_says_so():
    with pytest.raises(UserError, match="has no measurement; raise points_per_hour"):
        campus.simulate(0, Campus(days=2, points_per_hour=0.0))
