"""The map sampled on a square grid."""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError, out_of_range
from veilmap.geo import Projection
from veilmap.maps.kriging_map import KrigingMap
from veilmap.signal_map.signal_map import MapFacts, SignalMap

MAX_PIXELS = 25_000_000
# Where less of the prior variance is explained, the map would only repeat its mean.
LEAST_EXPLAINED = 0.1
MIN_STEP_M, MAX_STEP_M = 1e-3, 1e6  # a millimetre, and the width of a zone of UTM


@dataclass(frozen=True)
class Raster:
    """What a map says at pixel centres; row 0 is the northernmost, as in pictures.

    Attributes:
        rsrp_dbm: the predicted signal; NaN where the measurements say nothing.
        std_db: its uncertainty, half the width of a 68 % interval; None if the map knows none.
        visits: how many messages named the pixel's square; None if messages name no squares.
    """

    rsrp_dbm: NDArray[np.float32]
    x_min_m: float
    y_max_m: float
    resolution_m: float
    projection: Projection
    cell: str
    std_db: NDArray[np.float32] | None = None
    visits: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        signal_map: SignalMap,
        longest_side: int = 400,
        max_pixels: int = MAX_PIXELS,
        *,
        resolution_m: float | None = None,
    ) -> "Raster":
        """Over the whole area.

        By default a pixel is a square of the map, or there are about ``longest_side`` of them along
        the longer side.
        """
        facts = signal_map.facts
        if resolution_m is not None and not MIN_STEP_M <= resolution_m <= MAX_STEP_M:
            demand = f"a number of metres from {MIN_STEP_M:g} to {MAX_STEP_M:g}"
            raise out_of_range("resolution", demand, resolution_m)
        pixels = _Pixels.of(facts, longest_side, resolution_m)
        if pixels.columns * pixels.rows > max_pixels:
            raise UserError(
                f"a resolution of {pixels.step_m:g} m makes {pixels.columns:,} x {pixels.rows:,} "
                f"pixels, more than {max_pixels:,}; choose a coarser --resolution"
            )
        found = signal_map.predict(pixels.centres_m)
        shape = pixels.rows, pixels.columns
        rsrp_dbm = found.rsrp_dbm.astype(np.float32).reshape(shape)
        std_db = None if found.std_db is None else found.std_db.astype(np.float32).reshape(shape)
        if found.explained is not None:
            unknown = (found.explained < LEAST_EXPLAINED).reshape(shape)
            rsrp_dbm[unknown] = np.nan
            if std_db is not None:
                std_db[unknown] = np.nan
        visits = None if found.visits is None else found.visits.reshape(shape)
        corner = pixels.x_min_m, pixels.y_max_m
        return cls(rsrp_dbm, *corner, pixels.step_m, facts.projection, facts.cell, std_db, visits)

    @property
    def width_m(self) -> float:
        return int(self.rsrp_dbm.shape[1]) * self.resolution_m

    @property
    def height_m(self) -> float:
        return int(self.rsrp_dbm.shape[0]) * self.resolution_m

    @property
    def range_dbm(self) -> tuple[float, float] | None:
        """The lowest and the highest signal; None if nothing is known anywhere."""
        known = self.rsrp_dbm[~np.isnan(self.rsrp_dbm)]
        return (float(known.min()), float(known.max())) if len(known) else None

    @property
    def known_share(self) -> float:
        """The part of the pixels of which the map says something."""
        return float((~np.isnan(self.rsrp_dbm)).mean())


@dataclass(frozen=True)
class _Pixels:
    """Where the centres lie; the corner is the north-western one."""

    x_min_m: float
    y_max_m: float
    step_m: float
    rows: int
    columns: int

    @classmethod
    def of(cls, facts: MapFacts, longest_side: int, resolution_m: float | None) -> "_Pixels":
        area = facts.area
        if resolution_m is None and isinstance(facts.map, KrigingMap):
            grid = facts.map.grid(area)
            y_max_m = grid.y_min_m + grid.rows * grid.side_m
            return cls(grid.x_min_m, y_max_m, grid.side_m, grid.rows, grid.columns)
        size_m = max(area.width_m, area.height_m)
        step_m = _round_step(size_m / longest_side) if resolution_m is None else resolution_m
        columns, rows = (max(ceil(side / step_m), 1) for side in (area.width_m, area.height_m))
        return cls(area.x_min_m, area.y_max_m, step_m, rows, columns)

    @property
    def centres_m(self) -> NDArray[np.float64]:
        x_m = self.x_min_m + (np.arange(self.columns) + 0.5) * self.step_m
        y_m = self.y_max_m - (np.arange(self.rows) + 0.5) * self.step_m
        return np.stack(np.meshgrid(x_m, y_m), axis=-1).reshape(-1, 2)


def _round_step(step_m: float) -> float:
    """The next larger of 1, 2, 5, 10, 20, 50 … metres."""
    step_m = max(step_m, 1.0)  # no map is finer than the fixes that made it
    power = 10.0 ** floor(log10(step_m))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= step_m)
