from math import sqrt

import numpy as np
import pytest

from tests.map_quality.making import make_field
from veilmap.map_quality.noise_floor import floor_of, noise_floor


def test_two_sessions_in_one_place():
    """Rows -90 and -92, and -94: W = 2 and B = 2·1 + 4, so var(e) = 2 and var(b) = 4 / (3 − 5/3).

    The floor is the root of 2 + 3.
    """
    xy_m = np.zeros((3, 2))
    found = floor_of(xy_m, np.array([-90.0, -92, -94]), np.array([0, 0, 1]))
    assert found.rmse_db == found.rmse_by_place_db == pytest.approx(sqrt(5))
    assert (found.places, found.rows_share) == (1, 1)


def test_places_weigh_by_their_rows_or_all_the_same():
    """A place of two rows with variance 2, and one of six with 1 + (24 − 1) / 3."""
    xy_m = np.array([[0.0, 0]] * 2 + [[100.0, 0]] * 6)
    dbm = np.array([-90.0, -92, -91, -90, -89, -95, -94, -93])
    found = floor_of(xy_m, dbm, np.array([0, 1, 0, 0, 0, 1, 1, 1]))
    second = 8 + 2 / 3
    assert found.rmse_by_place_db == pytest.approx(sqrt((2 + second) / 2))
    assert found.rmse_db == pytest.approx(sqrt((2 * 2 + 6 * second) / 8))


def test_it_is_unbiased_whatever_the_number_of_rows_and_sessions():
    """Sessions off by 3 dB and rows by 2 dB: the root of 13, within 2 % over 4,000 places.

    The standard deviation of all rows in a place would be smaller, since rows share a session.
    """
    draw = np.random.default_rng(0)
    places, sessions = 4000, 3
    place = np.repeat(np.arange(places), sessions)
    rows = draw.integers(1, 9, len(place))
    session = np.repeat(np.arange(len(place)), rows)
    field = draw.normal(-95, 8, places)
    signal = np.repeat(field[place] + draw.normal(0, 3, len(place)), rows)
    signal += draw.normal(0, 2, len(signal))
    xy_m = np.column_stack([np.repeat(place, rows) * 20.0 + 10, np.zeros(len(signal))])
    found = floor_of(xy_m, signal, session)
    assert found.places == places
    assert found.rmse_by_place_db == pytest.approx(sqrt(13), rel=0.02)
    assert found.rmse_db == pytest.approx(sqrt(13), rel=0.02)


def test_a_session_weighs_by_its_rows():
    """In 400 places, five sessions of 50 rows off by 1 dB and five of one row off by 10 dB.

    The rows' mean square is (250 + 500) / 255, and the floor near its root, 1.7 dB; sessions that
    weigh the same would give 7.1 dB.
    """
    draw = np.random.default_rng(1)
    rows = np.tile(np.repeat([50, 1], 5), 400)
    off_db = draw.normal(0, np.where(rows > 1, 1.0, 10.0))
    place = np.repeat(np.repeat(np.arange(400), 10), rows)
    xy_m = np.column_stack([place * 20.0 + 10, np.zeros(len(place))])
    session = np.repeat(np.arange(len(rows)), rows)
    found = floor_of(xy_m, -90 + np.repeat(off_db, rows), session)
    assert 1.6 < found.rmse_db < 2.1


def test_equal_measurements_have_no_noise():
    assert floor_of(np.zeros((4, 2)), np.full(4, -90.5), np.array([0, 0, 1, 1])).rmse_db == 0


def test_places_of_one_session_say_nothing():
    xy_m = np.array([[0.0, 0], [0, 0], [100, 0], [100, 0]])
    found = floor_of(xy_m, np.array([-90.0, -92, -40, -140]), np.array([0, 1, 1, 1]))
    assert (found.places, found.rows_share) == (1, 0.5)
    assert found.rmse_db == pytest.approx(sqrt(2))
    assert floor_of(xy_m, np.zeros(4), np.array([0, 0, 1, 1])) is None


def test_of_measurements_sessions_are_found_by_their_silences():
    """The field varies within 20 m as well, so that the floor is above the noise of 2 dB."""
    found = noise_floor(make_field(2000))
    assert found.places > 100
    assert 2 < found.rmse_db < 3
