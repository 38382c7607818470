"""The map sampled on a square grid."""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError, out_of_range
from veilmap.geo import Projection
from veilmap.signal_map.signal_map import SignalMap

MAX_PIXELS = 25_000_000
MIN_STEP_M, MAX_STEP_M = 1e-3, 1e6  # a millimetre, and the width of a zone of UTM


@dataclass(frozen=True)
class Raster:
    """Predicted dBm at pixel centres; row 0 is the northernmost, as in pictures."""

    rsrp_dbm: NDArray[np.float32]
    x_min_m: float
    y_max_m: float
    resolution_m: float
    projection: Projection
    cell: str

    @classmethod
    def of(
        cls,
        signal_map: SignalMap,
        longest_side: int = 400,
        max_pixels: int = MAX_PIXELS,
        *,
        resolution_m: float | None = None,
    ) -> "Raster":
        """Over the whole area; by default about ``longest_side`` pixels along its longer side."""
        area = signal_map.facts.area
        size_m = max(area.width_m, area.height_m)
        step_m = _round_step(size_m / longest_side) if resolution_m is None else resolution_m
        if not MIN_STEP_M <= step_m <= MAX_STEP_M:
            demand = f"a number of metres from {MIN_STEP_M:g} to {MAX_STEP_M:g}"
            raise out_of_range("resolution", demand, resolution_m)
        columns, rows = (max(ceil(side / step_m), 1) for side in (area.width_m, area.height_m))
        if columns * rows > max_pixels:
            raise UserError(
                f"a resolution of {step_m:g} m makes {columns:,} x {rows:,} pixels, more than "
                f"{max_pixels:,}; choose a coarser --resolution"
            )
        x_m = area.x_min_m + (np.arange(columns) + 0.5) * step_m
        y_m = area.y_max_m - (np.arange(rows) + 0.5) * step_m
        xy_m = np.stack(np.meshgrid(x_m, y_m), axis=-1).reshape(-1, 2)
        values = signal_map.predict_dbm(xy_m).reshape(rows, columns)
        facts = signal_map.facts
        return cls(values, area.x_min_m, area.y_max_m, step_m, facts.projection, facts.cell)

    @property
    def width_m(self) -> float:
        return int(self.rsrp_dbm.shape[1]) * self.resolution_m

    @property
    def height_m(self) -> float:
        return int(self.rsrp_dbm.shape[0]) * self.resolution_m


def _round_step(step_m: float) -> float:
    """The next larger of 1, 2, 5, 10, 20, 50 … metres."""
    step_m = max(step_m, 1.0)  # no map is finer than the fixes that made it
    power = 10.0 ** floor(log10(step_m))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= step_m)
