"""The coverage of a map's intervals: how much of the test data lies inside."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.map_family import Prediction
from veilmap.kriging.groups import mean_positions, medians
from veilmap.local_data import LocalData
from veilmap.metrics.map_errors import places

_REPORT_M = 25.0
_DAY_S = 86_400.0


@dataclass(frozen=True)
class IntervalCoverage:
    """The share of reported signals inside the intervals; None of a map that states none."""

    of_68: float | None
    of_95: float | None


def interval_coverage(
    test: LocalData, predict: Callable[[NDArray[np.float64]], Prediction]
) -> IntervalCoverage:
    """Of what a phone would report of the test data: the median of a day in a place of 25 m.

    Every place of 50 m counts the same.
    """
    place, day = places(test.xy_m, _REPORT_M), np.floor(test.time_s / _DAY_S)
    _, report = np.unique(np.column_stack([place, day]), axis=0, return_inverse=True)
    report = report.ravel()
    xy_m = mean_positions(test.xy_m, report)
    found = predict(xy_m)
    if found.std_db is None or found.within_95_db is None:
        return IntervalCoverage(None, None)
    error_db = np.abs(medians(test.rsrp_dbm, report) - found.rsrp_dbm)
    where = places(xy_m)
    weights = 1 / np.bincount(where)[where]
    weights /= weights.sum()
    return IntervalCoverage(
        float(weights @ (error_db <= found.std_db)),
        float(weights @ (error_db <= found.within_95_db)),
    )
