import numpy as np
import pytest

from tests.conftest import make_local_data
from veilmap.area import Area
from veilmap.local_data import LocalData, Scaler


def test_a_fitted_scaler_gives_mean_0_and_variance_1():
    xy_std = Scaler.fitted(make_local_data(500).xy_m).standardise(make_local_data(500).xy_m)
    assert xy_std.mean(axis=0) == pytest.approx(0, abs=1e-5)
    assert xy_std.std(axis=0) == pytest.approx(1, abs=1e-5)


def test_a_public_scaler_gives_uniform_points_variance_1():
    area = Area(1000, 2000, 3000, 2500)
    draw = np.random.default_rng(0)
    xy_m = draw.uniform((1000, 2000), (3000, 2500), (100_000, 2))
    xy_std = Scaler.of_area(area).standardise(xy_m)
    assert xy_std.mean(axis=0) == pytest.approx(0, abs=0.02)
    assert xy_std.std(axis=0) == pytest.approx(1, abs=0.02)


def test_standardising_and_back_is_identity_at_utm_scale():
    scaler = Scaler((422_000.0, 3_722_000.0), (300.0, 200.0))
    xy_m = np.array([[422_123.4, 3_722_567.8]])
    assert scaler.metres(scaler.standardise(xy_m)) == pytest.approx(xy_m, abs=1e-4)


def test_a_phone_that_never_moved_stays_finite():
    scaler = Scaler.fitted(np.full((10, 2), 5.0))
    assert scaler.standardise(np.full((3, 2), 5.0)).tolist() == [[0, 0]] * 3


def test_joining_pieces_keeps_order_and_number():
    first, second = make_local_data(3), make_local_data(2, seed=1)
    joined = LocalData.join([first, second])
    assert len(joined) == 5
    assert joined.rsrp_dbm.tolist() == [*first.rsrp_dbm, *second.rsrp_dbm]


@pytest.mark.parametrize("window_s", [(2, 5), (2.5, 2.5), (-9, 0), (0, 99), (4, 4.5), (98, 99)])
def test_what_was_measured_between_is_what_a_comparison_of_all_times_finds(window_s):
    """The end is not part of it, and of equal times all rows are."""
    times_s = np.array([0.0, 2, 2, 2, 3, 4, 4, 5, 7])
    data = LocalData(np.arange(18.0).reshape(9, 2), -times_s, times_s)
    start_s, end_s = window_s
    expected = data.take(np.flatnonzero((times_s >= start_s) & (times_s < end_s)))
    found = data.between(start_s, end_s)
    assert found.xy_m.tolist() == expected.xy_m.tolist()
    assert found.time_s.tolist() == expected.time_s.tolist()


def test_what_differs_by_rounding_alone_has_no_spread():
    """A phone on a table whose positions were projected one by one."""
    points = np.array([[422_000.0, 3_722_000.0], [422_000.0 + 1e-10, 3_722_000.0]])
    assert Scaler.fitted(points).scale_m == (1.0, 1.0)
