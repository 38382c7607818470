"""What the picture of a comparison shows, as numbers: four maps side by side for each predictor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.map_family import Prediction
from veilmap.inspection.maps import frame_around, round_step
from veilmap.local_data import LocalData
from veilmap.map_quality.compared_seed import ComparedSeed
from veilmap.map_quality.predictors import Predict, all_rows
from veilmap.model.threads import one_thread
from veilmap.square_grid import OUTSIDE, SquareGrid

# The best central predictor may be another; this one knows its uncertainty.
CENTRAL = "central_kriging"
_SQUARES_PER_SIDE = 100
_LEAST_SIDE_M = 20.0  # about the error of a phone's position

Values = NDArray[np.float64]


@dataclass(frozen=True)
class MapPanels:
    """One predictor in the squares of a sheet: its map, error on the test data, uncertainty."""

    predictor: str
    predicted_dbm: Values
    error_db: Values
    std_db: Values | None
    is_calibrated: bool


@dataclass(frozen=True)
class Sheet:
    """What was measured, and the maps of it."""

    grid: SquareGrid
    measured_dbm: Values
    maps: tuple[MapPanels, ...]


def sheet_of(compared: ComparedSeed) -> Sheet:
    """Central kriging and the federated maps of one seed."""
    test = compared.prepared.test
    federated = [row.predictor for row in compared.rows if row.kind == "federated"]
    everything = LocalData.join([all_rows(compared.prepared.rounds), test])
    grid = grid_around(everything.xy_m)
    with one_thread():
        maps = [_panels(each, compared.predict[each], test, grid) for each in (CENTRAL, *federated)]
    return Sheet(grid, means(grid, everything.xy_m, everything.rsrp_dbm), tuple(maps))


def grid_around(xy_m: Values) -> SquareGrid:
    """Squares of a round side, at most about 100 along the longer side of a frame."""
    frame = frame_around(xy_m)
    longer_m = max(frame.width_m, frame.height_m)
    # round_step takes a fifth of what it is given.
    return SquareGrid.of(frame, max(round_step(longer_m / _SQUARES_PER_SIDE * 5), _LEAST_SIDE_M))


def means(grid: SquareGrid, xy_m: Values, values: Values) -> Values:
    """The mean of the values in each square; NaN where there are none."""
    square = grid.squares(xy_m)
    inside = square != OUTSIDE
    counts = np.bincount(square[inside], minlength=len(grid))
    sums = np.bincount(square[inside], values[inside], len(grid))
    found = np.full(len(grid), np.nan)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found.reshape(grid.rows, grid.columns)


def _panels(name: str, predict: Predict, test: LocalData, grid: SquareGrid) -> MapPanels:
    everywhere: Prediction = predict(grid.centres_m(np.arange(len(grid))))
    at_test, position = np.unique(test.xy_m, axis=0, return_inverse=True)
    predicted_dbm = predict(at_test).rsrp_dbm[position.ravel()]
    std_db = everywhere.std_db
    return MapPanels(
        name,
        everywhere.rsrp_dbm.reshape(grid.rows, grid.columns),
        means(grid, test.xy_m, predicted_dbm - test.rsrp_dbm),
        None if std_db is None else std_db.reshape(grid.rows, grid.columns),
        everywhere.within_95_db is not None,
    )
