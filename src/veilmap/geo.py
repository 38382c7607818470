"""Latitude and longitude to local metres (UTM) and back."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pyproj import Transformer

from veilmap.area import Area

WGS84_EPSG = 4326


@dataclass(frozen=True)
class Projection:
    """A metric map projection, named by its EPSG code."""

    epsg: int

    @classmethod
    def utm_for(cls, lat_deg: NDArray[np.float64], lon_deg: NDArray[np.float64]) -> "Projection":
        """The UTM zone of the points' middle; near the poles the polar projection."""
        middle_lat = float(np.mean(lat_deg))
        if abs(middle_lat) > 84:
            return cls(32661 if middle_lat > 0 else 32761)
        # The mean direction, not the mean number: points on both sides of 180° belong together.
        turn = np.radians(lon_deg)
        middle_lon = np.degrees(np.arctan2(np.sin(turn).mean(), np.cos(turn).mean()))
        zone = int((middle_lon + 180) // 6) % 60 + 1
        return cls((32600 if middle_lat >= 0 else 32700) + zone)

    def metres(
        self, lat_deg: NDArray[np.float64], lon_deg: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Degrees to ``xy_m``, one row (easting, northing) per point."""
        return np.column_stack(_transformer(WGS84_EPSG, self.epsg).transform(lon_deg, lat_deg))

    def degrees(self, xy_m: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """``xy_m`` to latitude and longitude."""
        x_m, y_m = np.asarray(xy_m, np.float64).T
        lon_deg, lat_deg = _transformer(self.epsg, WGS84_EPSG).transform(x_m, y_m)
        return lat_deg, lon_deg

    def area_of_box(self, west: float, south: float, east: float, north: float) -> Area:
        """The metric rectangle around a box in degrees."""
        lat_deg = np.array([south, south, north, north])
        lon_deg = np.array([west, east, west, east])
        return Area.around(self.metres(lat_deg, lon_deg))


@lru_cache(maxsize=8)
def _transformer(from_epsg: int, to_epsg: int) -> Transformer:
    return Transformer.from_crs(from_epsg, to_epsg, always_xy=True)
