import numpy as np
import polars as pl

from veilmap.sources.campus import Campus, simulate
from veilmap.sources.campus.residents import residents

WORLD = Campus(users=7, days=14, logged_days=1.0)


def test_residents_are_the_even_people_of_the_world_in_the_first_ones_densest_cell():
    everyone = simulate(3, WORLD)
    for each in residents(3, WORLD, range(4)):
        own = (pl.col("user") == str(2 * each.number)) & (pl.col("cell") == "x204")
        rows = everyone.table.filter(own)
        assert len(each.data) == rows.height
        assert np.array_equal(each.data.rsrp_dbm, rows["rsrp_dbm"].to_numpy())
        if not len(each.data):
            continue
        steps_s = rows["time"].diff().dt.total_seconds().to_numpy()[1:]
        assert np.array_equal(np.diff(each.data.time_s), steps_s)
        # Both are measured in metres, the world's in the projection of all its rows.
        spread_m = np.ptp(each.data.xy_m, axis=0) - np.ptp(rows[["x_m", "y_m"]].to_numpy(), axis=0)
        assert np.abs(spread_m).max() < 1e-3


def test_home_is_where_the_phone_is_at_night():
    found = 0
    for each in residents(0, WORLD, range(12)):
        at_night = each.data.time_s % 86_400 < 5 * 3600
        if at_night.any():
            away_m = np.median(each.data.xy_m[at_night], axis=0) - each.home_m
            assert np.hypot(*away_m) < 150
            found += 1
    assert found >= 3


def test_a_resident_does_not_depend_on_who_else_is_asked_for():
    (alone,) = residents(1, WORLD, [4])
    *_, last = residents(1, WORLD, [2, 4])
    assert np.array_equal(alone.data.xy_m, last.data.xy_m)
    assert np.array_equal(alone.home_m, last.home_m)
