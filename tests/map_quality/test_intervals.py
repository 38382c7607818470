import numpy as np

from veilmap.federation.map_family import Prediction
from veilmap.local_data import LocalData
from veilmap.map_quality.intervals import IntervalCoverage, interval_coverage


def test_the_share_is_of_the_median_of_a_day_in_a_place_and_every_place_counts_the_same():
    """A place has two days, 1 and 7 dB off; another has one of 4 dB, 2 of whose 3 rows are 4 off.

    Within 5 dB lie half of the first and all of the second: 75 %. Within 8 dB lies everything.
    """
    xy_m = np.array([[10.0, 10], [10, 10], [210, 10], [211, 10], [212, 10]])
    signal = np.array([-89.0, -83, -94, -94, -60])
    time_s = np.array([0.0, 90_000, 10, 20, 30])

    def predict(xy_m):
        everywhere = np.ones(len(xy_m))
        return Prediction(-90 * everywhere, 5 * everywhere, 8 * everywhere)

    assert interval_coverage(LocalData(xy_m, signal, time_s), predict) == IntervalCoverage(
        0.75, 1.0
    )


def test_a_map_without_intervals_holds_nothing():
    data = LocalData(np.zeros((1, 2)), np.zeros(1), np.zeros(1))
    assert interval_coverage(
        data, lambda xy_m: Prediction(np.zeros(len(xy_m)))
    ) == IntervalCoverage(None, None)
