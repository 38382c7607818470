"""Fixes, shadowing, what is received, which cell is taken, drift and fading."""

import numpy as np
import pytest

from veilmap.sources.campus import logger, radio, signal, simulate
from veilmap.sources.campus.logger import Moments, is_night, locate, moments
from veilmap.sources.campus.people import DAY_S, live
from veilmap.sources.campus.radio import STEP_M, Fields, RadioNetwork, antenna_loss_db, path_loss_db
from veilmap.sources.campus.signal import KEPT, WEEK_S, drift_db, fading_db
from veilmap.sources.campus.streets import Streets
from veilmap.sources.campus.world import Campus
from veilmap.streams import stream

WORLD = Campus()


@pytest.fixture(scope="module")
def network():
    return RadioNetwork.draw(WORLD, 0, 0)


@pytest.fixture(scope="module")
def phone(network):
    stays = live(WORLD, Streets.draw(WORLD, stream(0, "streets")), network, 0, 0)
    when = moments(WORLD, stays, 0, 0)
    return stays, when, locate(WORLD, stays, when, 0, 0)


def test_the_shadowing_has_the_exponential_covariance():
    """For d = 40 m at r = 0, 40 and 100 m: 1, 0.37, 0.08."""
    size_m = np.array([1000.0, 1000.0])
    drawn = Fields.draw(40, 0 * size_m, size_m, 40.0, stream(0, "fields")).values
    for steps, axis in ((0, 1), (4, 1), (4, 2), (10, 2)):
        there = np.roll(drawn, steps, axis=axis)
        inner = np.s_[:, 10:, 10:]
        covariance = (drawn[inner] * there[inner]).mean()
        assert covariance == pytest.approx(np.exp(-steps * STEP_M / 40.0), abs=0.05)


def test_a_field_is_read_at_its_grid_points():
    low_m = np.array([-50.0, 20.0])
    fields = Fields.draw(2, low_m, low_m + 200, 40.0, stream(0, "fields"))
    points = low_m + np.array([[0.0, 0], [30, 10]])
    np.testing.assert_allclose(
        fields.at(1, points), [fields.values[1][0, 0], fields.values[1][1, 3]]
    )


def test_between_grid_points_the_variance_is_1_too():
    draw, low_m = stream(0, "fields"), np.zeros(2)
    fields = Fields.draw(1500, low_m, low_m + 20, 15.0, draw)
    for point in ([5.0, 5.0], [3.0, 10.0], [10.0, 10.0]):
        values = np.array([fields.at(each, np.array([point]))[0] for each in range(1500)])
        assert values.std() == pytest.approx(1, abs=0.05)


def test_path_loss_is_that_of_the_standard_before_and_beyond_the_breakpoint():
    """TR 38.901, UMa LOS at 2 GHz: 22 dB per decade of slant distance up to 320 m, then 40."""
    away_m = np.array([[100.0, 0], [319, 0], [321, 0], [1000, 0]])
    near, before, after, far = path_loss_db(away_m)
    drop_m = radio.SITE_HEIGHT_M - radio.PHONE_HEIGHT_M
    slant = np.log10(np.hypot(away_m[:, 0], drop_m))
    assert pytest.approx(320) == radio.BREAKPOINT_M
    assert before - near == pytest.approx(22 * (slant[1] - slant[0]))
    assert far - after == pytest.approx(40 * (slant[3] - slant[2]))
    assert after - before == pytest.approx(0, abs=0.2)


def test_an_antenna_loses_12_db_at_65_degrees_and_20_at_its_back():
    away_m = np.array([[0.0, 9], [np.sin(np.radians(65)), np.cos(np.radians(65))], [0, -1]])
    assert antenna_loss_db(away_m, 0.0) == pytest.approx([0, 12, 20])


def test_walls_take_their_share(network):
    xy_m = np.zeros((1, 2))
    outside, inside = (network.received_db(WORLD, xy_m, np.array([i])) for i in (False, True))
    assert outside - inside == pytest.approx(radio.PENETRATION_DB)


def test_cells_of_one_site_share_their_shadowing(network):
    xy_m = stream(0, "places").uniform(-500, 500, (400, 2))
    outdoors, flat = np.zeros(400, bool), Campus(shadowing_db=0.0)
    shadow = network.received_db(WORLD, xy_m, outdoors) - network.received_db(flat, xy_m, outdoors)
    same, other = np.corrcoef(shadow)[0, [1, 3]]
    assert same == pytest.approx(1)
    assert other == pytest.approx(radio.SITE_CORRELATION, abs=0.2)
    assert shadow.std() == pytest.approx(WORLD.shadowing_db, abs=0.6)


def test_a_resting_phone_keeps_its_fix_and_a_walking_one_does_not(phone):
    _, when, where = phone
    walking = when.walking
    repeats = (np.diff(where.reported_m, axis=0) == 0).all(axis=1)
    assert repeats[~walking[1:] & ~walking[:-1]].mean() > 0.3
    assert repeats[walking[1:] & walking[:-1]].mean() < 2 * logger.LOST_SHARE


def test_a_phone_keeps_a_fix_for_the_wanted_minutes_and_longer_by_night():
    start_s = np.arange(0, 20 * DAY_S, 20.0)
    resting = Moments(start_s, np.zeros(len(start_s), int), np.zeros(len(start_s), bool))
    for minutes in (3.0, 20.0):
        visit = logger.visit_numbers(Campus(fix_minutes=minutes), resting, stream(0, "visits"))
        changes, night = np.diff(visit), is_night(start_s[1:])
        by_day, by_night = (60 / (180 * changes[which].mean()) for which in (~night, night))
        assert by_day == pytest.approx(minutes, rel=0.1)
        assert by_night == pytest.approx(logger.LONGER_BY_NIGHT * minutes, rel=0.15)


def test_a_lost_fix_repeats_the_last_one(phone):
    found = np.array([True, False, False, True, False])
    assert logger.last_known(found).tolist() == [0, 0, 0, 3, 3]
    _, when, where = phone
    on_foot = when.walking[1:] & when.walking[:-1]
    repeats = (np.diff(where.reported_m, axis=0) == 0).all(axis=1)
    assert repeats[on_foot].mean() == pytest.approx(logger.LOST_SHARE, abs=0.03)
    assert (np.diff(where.accuracy_m)[on_foot & repeats] == 0).all()


def test_some_resting_fixes_come_back_after_others(phone):
    _, when, where = phone
    resting = where.reported_m[~when.walking]
    visits = where.visit[~when.walking]
    _, place = np.unique(resting, axis=0, return_inverse=True)
    returns = sum(len(np.unique(visits[place == each])) > 1 for each in range(300))
    assert returns > 10


def test_a_phone_that_does_not_look_keeps_its_cell_until_that_is_too_weak():
    """Cell 1 is best from the second burst on, and by more than the limit in the third."""
    too_weak = -90 - signal.KEPT_WITHIN_DB - 1
    dbm = np.array([[-90, -95, too_weak, -90], [-99, -90, -90, -80]])
    looks = np.array([True, False, False, True])
    best = dbm.argmax(axis=0)
    assert signal.kept_cells(best, looks, dbm).tolist() == [0, 0, 1, 1]


def test_most_bursts_take_the_strongest_cell(network, phone):
    _, when, where = phone
    cell, _ = signal.attach(WORLD, network, when, where, stream(0, "attachment"))
    received = network.received_db(WORLD, where.place_m, ~when.walking)
    assert (cell == received.argmax(axis=0)).mean() > 0.6


def test_the_power_is_that_of_the_cell_at_the_phone_with_the_spots_part(network, phone):
    _, when, where = phone
    cell, power_db = signal.attach(WORLD, network, when, where, stream(0, "attachment"))
    here_db = network.received_db(WORLD, where.true_m, ~when.walking)
    expected_db = here_db[cell, np.arange(len(cell))] + where.spot_db
    np.testing.assert_allclose(power_db, expected_db)
    assert where.spot_db[~when.walking].std() > 0.3


def test_fading_has_mean_0_and_the_spread_of_a_gamma_distribution():
    """Of 6 looks: 10/ln 10 · sqrt(ψ'(6)) = 1.85 dB."""
    fading = fading_db(WORLD, 200_000, stream(0, "fading"))
    assert fading.mean() == pytest.approx(0, abs=0.02)
    assert fading.std() == pytest.approx(1.850, abs=0.02)


def test_drift_is_a_level_a_week_near_the_last_one_and_a_line_between():
    time_s = WEEK_S * np.array([1.0, 1.5, 2.0])
    start, middle, end = drift_db(WORLD, time_s, np.array([3, 3, 3]), 0)
    assert middle == pytest.approx((start + end) / 2)
    weeks, cells = 100, 400
    world = Campus(days=7 * weeks, cells=cells, drift_db=2.0)
    times = np.repeat(WEEK_S * np.arange(weeks), cells)
    levels = drift_db(world, times, np.tile(np.arange(cells), weeks), 0).reshape(weeks, cells)
    assert levels.std() == pytest.approx(2.0, abs=0.1)
    kept = (levels[1:] * levels[:-1]).mean() / levels.var()
    assert kept == pytest.approx(KEPT, abs=0.05)


def test_the_drift_shows_in_the_rows():
    still, drifting = (
        simulate(0, Campus(users=1, days=70, cells=2, drift_db=drift)).table["rsrp_dbm"].to_numpy()
        for drift in (0.0, 10.0)
    )
    assert (drifting - still).std() > 3
