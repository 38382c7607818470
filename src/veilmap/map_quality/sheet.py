"""What the picture of a comparison shows, as numbers: four maps side by side for each predictor."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.federation.map_family import Prediction
from veilmap.inspection.maps import frame_around, round_step
from veilmap.local_data import LocalData
from veilmap.map_quality.compared_seed import ComparedSeed
from veilmap.map_quality.predictors import Predict, all_rows
from veilmap.model.threads import one_thread

# The best central predictor may be another; this one knows its uncertainty.
CENTRAL = "central_kriging"
_SQUARES_PER_SIDE = 100
_LEAST_SIDE_M = 20.0  # about the error of a phone's position

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Squares that cover a frame, in rows from the south."""

    frame: Area
    side_m: float

    @classmethod
    def around(cls, xy_m: Values) -> "Grid":
        """Squares of a round side, at most about 100 along the longer side of the frame."""
        frame = frame_around(xy_m)
        longer_m = max(frame.width_m, frame.height_m)
        # round_step takes a fifth of what it is given.
        side_m = max(round_step(longer_m / _SQUARES_PER_SIDE * 5), _LEAST_SIDE_M)
        return cls(frame, side_m)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (
            ceil(self.frame.height_m / self.side_m),
            ceil(self.frame.width_m / self.side_m),
        )

    @property
    def centres_m(self) -> Values:
        """Of all squares, row by row."""
        rows, columns = self.shape
        x_m = self.frame.x_min_m + (np.arange(columns) + 0.5) * self.side_m
        y_m = self.frame.y_min_m + (np.arange(rows) + 0.5) * self.side_m
        return np.stack(np.meshgrid(x_m, y_m), axis=-1).reshape(-1, 2)

    def means(self, xy_m: Values, values: Values) -> Values:
        """The mean of the values in each square; NaN where there are none."""
        rows, columns = self.shape
        column, row = np.floor((xy_m - self.frame.corners_m[0]) / self.side_m).astype(int).T
        inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
        square = row[inside] * columns + column[inside]
        counts = np.bincount(square, minlength=rows * columns)
        sums = np.bincount(square, values[inside], rows * columns)
        means = np.full(rows * columns, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means.reshape(self.shape)


@dataclass(frozen=True)
class MapPanels:
    """One predictor in the squares of a sheet: its map, its error on the test data, its doubt."""

    predictor: str
    predicted_dbm: Values
    error_db: Values
    std_db: Values | None
    is_calibrated: bool


@dataclass(frozen=True)
class Sheet:
    """What was measured, and the maps of it."""

    grid: Grid
    measured_dbm: Values
    maps: tuple[MapPanels, ...]


def sheet_of(compared: ComparedSeed) -> Sheet:
    """Central kriging and the federated maps of one seed."""
    test = compared.prepared.test
    federated = [row.predictor for row in compared.rows if row.kind == "federated"]
    everything = LocalData.join([all_rows(compared.prepared.rounds), test])
    grid = Grid.around(everything.xy_m)
    with one_thread():
        maps = [_panels(each, compared.predict[each], test, grid) for each in (CENTRAL, *federated)]
    return Sheet(grid, grid.means(everything.xy_m, everything.rsrp_dbm), tuple(maps))


def _panels(name: str, predict: Predict, test: LocalData, grid: Grid) -> MapPanels:
    everywhere: Prediction = predict(grid.centres_m)
    at_test, position = np.unique(test.xy_m, axis=0, return_inverse=True)
    predicted_dbm = predict(at_test).rsrp_dbm[position.ravel()]
    std_db = everywhere.std_db
    return MapPanels(
        name,
        everywhere.rsrp_dbm.reshape(grid.shape),
        grid.means(test.xy_m, predicted_dbm - test.rsrp_dbm),
        None if std_db is None else std_db.reshape(grid.shape),
        everywhere.within_95_db is not None,
    )
