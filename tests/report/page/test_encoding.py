import json
from base64 import b64decode

import numpy as np
import pytest

from veilmap.report.page.content import Overlay, Track
from veilmap.report.page.encoding import (
    packed_points,
    packed_raster,
    packed_weights,
    rounded_degrees,
    script_json,
)


def make_track(size=200, seed=0):
    draw = np.random.default_rng(seed)
    return Track(
        48.2 + draw.uniform(0, 0.02, size),
        16.3 + draw.uniform(0, 0.03, size),
        np.sort(draw.integers(1, 5, size)),
    )


def unpacked(packed):
    south, west, north, east = packed["box"]
    steps = np.frombuffer(b64decode(packed["points"]), "<u2").reshape(-1, 2) / 65_535
    return np.array([south, west]) + steps * np.array([north - south, east - west])


def test_points_come_back_to_half_a_step():
    track = make_track()
    degrees = np.column_stack([track.lat_deg, track.lon_deg])
    assert np.abs(unpacked(packed_points(track)) - degrees).max() < 0.03 / 65_535


def test_points_of_a_round_lie_together():
    """Rounds 2, 1, 2 become one point of round 1, then two of round 2 in their order."""
    track = Track(np.array([1.0, 2.0, 3.0]), np.array([7.0, 7.0, 7.0]), np.array([2, 1, 2]))
    packed = packed_points(track)
    assert packed["rounds"] == [1, 2]
    assert packed["counts"] == [1, 2]
    assert unpacked(packed)[:, 0].tolist() == pytest.approx([2, 1, 3], abs=1e-4)


def test_one_point_and_none_are_packed():
    one = packed_points(Track(np.array([48.2]), np.array([16.3]), np.array([4])))
    assert unpacked(one).tolist() == [[48.2, 16.3]]
    none = packed_points(Track(np.empty(0), np.empty(0), np.empty(0, np.int64)))
    assert none["points"] == ""


def test_weights_keep_their_order_down_to_a_ten_thousandth():
    weights = np.array([0.0, 0.0001, 0.01, 0.5])
    track = Track(np.zeros(4), np.zeros(4), np.ones(4, np.int64))
    packed = packed_weights(track, weights)
    roots = np.frombuffer(b64decode(packed["roots"]), np.uint8).astype(float)
    assert (np.diff(roots) > 0).all()
    assert packed["largest"] * (roots / 255) ** 2 == pytest.approx(weights, abs=0.003)


def test_a_raster_has_a_code_for_no_value():
    """-100 dBm is the lowest code, -80 the highest, NaN is 0."""
    values = np.array([[-100.0, np.nan], [-90.0, -80.0]])
    packed = packed_raster(Overlay((0, 0, 1, 1), values), -100, -80)
    assert list(b64decode(packed["codes"])) == [1, 0, 128, 255]


def test_a_large_raster_is_thinned_and_keeps_its_shape():
    values = np.tile(np.linspace(-100, -80, 800), (400, 1))
    packed = packed_raster(Overlay((0, 0, 1, 1), values), -100, -80)
    assert (packed["rows"], packed["columns"]) == (80, 160)
    row = np.frombuffer(b64decode(packed["codes"]), np.uint8)[:160].astype(float)
    assert (np.diff(row) > 0).all()


def test_json_in_a_script_holds_no_markup_and_reads_the_same():
    value = {"name": "</script><!-- & \u2028\u2029 'x'"}
    text = str(script_json(value))
    assert not set(text) & {"<", ">", "&", "\u2028", "\u2029"}
    assert json.loads(text) == value


def test_numbers_of_numpy_are_plain_in_json():
    assert script_json([np.float64(1.5), float("nan"), (1, None)]) == "[1.5,null,[1,null]]"


def test_degrees_are_rounded_to_a_tenth_of_a_metre():
    assert rounded_degrees(np.array([48.123456789])) == [48.123457]
