"""Fixes, shadowing, what is received, which cell is taken, drift and fading."""

import numpy as np
import pytest

from veilmap.sources.campus import attachment, fixes, radio
from veilmap.sources.campus.fixes import locate
from veilmap.sources.campus.logger import moments
from veilmap.sources.campus.people import live
from veilmap.sources.campus.radio import Network
from veilmap.sources.campus.shadowing import STEP_M, Fields
from veilmap.sources.campus.signal import WEEK_S, drift_db, fading_db
from veilmap.sources.campus.streets import Streets
from veilmap.sources.campus.world import Campus
from veilmap.streams import stream

WORLD = Campus()


@pytest.fixture(scope="module")
def network():
    return Network.draw(WORLD, 0, 0)


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


def test_a_field_is_read_at_its_grid_points_and_linearly_between():
    low_m = np.array([-50.0, 20.0])
    fields = Fields.draw(2, low_m, low_m + 200, 40.0, stream(0, "fields"))
    grid = fields.values[1]
    points = low_m + np.array([[0.0, 0], [30, 10], [35, 10], [30, 15]])
    middle = (grid[1, 3] + grid[1, 4]) / 2, (grid[1, 3] + grid[2, 3]) / 2
    np.testing.assert_allclose(fields.at(1, points), [grid[0, 0], grid[1, 3], *middle])


def test_power_falls_by_22_db_per_decade_and_by_12_db_at_65_degrees(network):
    no_shadow = Campus(shadowing_db=1e-12)
    azimuth = np.radians(network.azimuth_deg[0])
    ahead, aside = (
        np.array([np.sin(azimuth + turn), np.cos(azimuth + turn)]) for turn in (0, np.radians(65))
    )
    site_m = network.site_m[0]
    xy_m = np.array([site_m + 100 * ahead, site_m + 1000 * ahead, site_m + 1000 * aside])
    near, far, off = network.received_dbm(no_shadow, xy_m, np.zeros(3, bool))[0]
    slant = 22 * np.log10(np.hypot(1000, radio.HEIGHT_M) / np.hypot(100, radio.HEIGHT_M))
    assert near - far == pytest.approx(slant)
    assert far - off == pytest.approx(12)
    indoors = network.received_dbm(no_shadow, xy_m, np.ones(3, bool))[0]
    assert near - indoors[0] == pytest.approx(radio.PENETRATION_DB)


def test_cells_of_one_site_share_their_shadowing(network):
    xy_m = stream(0, "places").uniform(-500, 500, (400, 2))
    shadow = network.received_dbm(WORLD, xy_m, np.zeros(400, bool)) - network.received_dbm(
        Campus(shadowing_db=1e-12), xy_m, np.zeros(400, bool)
    )
    same, other = np.corrcoef(shadow)[0, [1, 3]]
    assert same == pytest.approx(1)
    assert other == pytest.approx(radio.SITE_CORRELATION, abs=0.2)


def test_a_resting_phone_keeps_its_fix_and_a_walking_one_does_not(phone):
    _, when, where = phone
    walking = when.walking
    repeats = (np.diff(where.reported_m, axis=0) == 0).all(axis=1)
    assert repeats[~walking[1:] & ~walking[:-1]].mean() > 0.3
    assert repeats[walking[1:] & walking[:-1]].mean() < 2 * fixes.LOST_SHARE


def test_a_lost_fix_repeats_the_last_one():
    found = np.array([True, False, False, True, False])
    assert fixes._last_known(found).tolist() == [0, 0, 0, 3, 3]


def test_a_phone_that_does_not_look_keeps_its_cell_until_that_is_too_weak():
    """Cell 1 is best from the second burst on, and by more than the limit in the third."""
    too_weak = -90 - attachment.KEPT_WITHIN_DB - 1
    dbm = np.array([[-90, -95, too_weak, -90], [-99, -90, -90, -80]])
    looks = np.array([True, False, False, True])
    best = dbm.argmax(axis=0)
    assert attachment._keep(best, looks, dbm).tolist() == [0, 0, 1, 1]


def test_most_bursts_take_the_strongest_cell(network, phone):
    _, when, where = phone
    cell, dbm = attachment.attach(WORLD, network, when, where, stream(0, "attachment"))
    received = network.received_dbm(WORLD, where.place_m, ~when.walking)
    assert (cell == received.argmax(axis=0)).mean() > 0.6
    assert np.isfinite(dbm).all()


def test_fading_has_mean_0_and_the_spread_of_a_gamma_distribution():
    """Of 4 looks: 10/ln 10 · sqrt(ψ'(4)) = 2.31 dB."""
    fading = fading_db(WORLD, 200_000, stream(0, "fading"))
    assert fading.mean() == pytest.approx(0, abs=0.02)
    assert fading.std() == pytest.approx(2.314, abs=0.02)


def test_drift_is_a_level_a_week_and_a_line_between():
    time_s = WEEK_S * np.array([1.0, 1.5, 2.0])
    start, middle, end = drift_db(WORLD, time_s, np.array([3, 3, 3]), 0)
    assert middle == pytest.approx((start + end) / 2)
    levels = drift_db(WORLD, np.repeat(WEEK_S * np.arange(17.0), 25), np.tile(np.arange(25), 17), 0)
    assert levels.std() == pytest.approx(WORLD.drift_db, abs=0.15)
