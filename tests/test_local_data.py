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
