import numpy as np
import pytest
import torch

from veilmap.area import Area
from veilmap.defences.obfuscation.records import RecordScale
from veilmap.local_data import LocalData, Scaler

SCALER = Scaler((500_000.0, 5_700_000.0), (100.0, 200.0))
AREA = Area(499_000, 5_699_000, 501_000, 5_701_000)


def points(labels):
    draw = np.random.default_rng(0)
    xy_m = SCALER.mean_m + draw.normal(0, 100, (len(labels), 2))
    return LocalData(xy_m, np.array(labels, float), np.arange(len(labels), dtype=float))


def test_there_and_back_is_the_identity():
    data = points([-90, -95, -100])
    scale = RecordScale.fitted([data], SCALER)
    again = scale.points(scale.records(data), data.time_s, AREA)
    np.testing.assert_allclose(again.xy_m, data.xy_m, atol=1e-3)
    np.testing.assert_allclose(again.rsrp_dbm, data.rsrp_dbm, atol=1e-4)
    np.testing.assert_array_equal(again.time_s, data.time_s)


def test_labels_get_mean_0_and_spread_1_over_all_people():
    scale = RecordScale.fitted([points([-90, -100]), points([-80, -90])], SCALER)
    assert scale.label_mean_dbm == -90
    assert scale.label_scale_db == pytest.approx(np.sqrt(50))


def test_half_a_decibel_is_a_spread_too():
    assert RecordScale.fitted([points([-90, -90.5])], SCALER).label_scale_db == 0.25


@pytest.mark.parametrize("labels", [[-93.1], [-93.1] * 7])
def test_labels_without_spread_are_scaled_by_1_db(labels):
    assert RecordScale.fitted([points(labels)], SCALER).label_scale_db == 1


def test_no_rounding_carries_a_point_out_of_the_area():
    edge = Area(499_900.123, 5_699_800.123, 500_100.123, 5_700_200.123)
    rows = torch.tensor([[1.00124, 1.00062, 0.0], [-0.99878, -0.9994, 0.0]])
    found = RecordScale(SCALER, 0.0, 1.0).points(rows, np.zeros(2), edge)
    assert edge.contains(found.xy_m).all()
