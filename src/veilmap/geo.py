"""Latitude and longitude to local metres (UTM) and back."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pyproj import CRS, Transformer
from pyproj.exceptions import CRSError

from veilmap.area import Area
from veilmap.errors import UserError, shown

WGS84_EPSG = 4326
EARTH_RADIUS_M = 6_371_000.0

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """A metric map projection, named by its EPSG code."""

    epsg: int

    def __post_init__(self) -> None:
        if not _is_metric(self.epsg):
            raise UserError(
                f"EPSG:{shown(self.epsg)} is not a known projection in metres; give one, such as "
                "the local UTM zone (32601 to 32660 in the north, 32701 to 32760 in the south)"
            )

    @classmethod
    def utm_for(cls, lat_deg: Floats, lon_deg: Floats) -> "Projection":
        """The UTM zone of the points' centre; near the poles the polar projection."""
        middle_lat = float(np.mean(lat_deg))
        if abs(middle_lat) > 84:
            return cls(32661 if middle_lat > 0 else 32761)
        # The mean direction, not the mean number: points on both sides of 180° belong together.
        turn = np.radians(lon_deg)
        middle_lon = np.degrees(np.arctan2(np.sin(turn).mean(), np.cos(turn).mean()))
        zone = int((middle_lon + 180) // 6) % 60 + 1
        return cls((32600 if middle_lat >= 0 else 32700) + zone)

    def metres(self, lat_deg: Floats, lon_deg: Floats) -> Floats:
        """Degrees to ``xy_m``, one row (easting, northing) per point."""
        return np.column_stack(_transformer(WGS84_EPSG, self.epsg).transform(lon_deg, lat_deg))

    def degrees(self, xy_m: Floats) -> tuple[Floats, Floats]:
        """``xy_m`` to latitude and longitude."""
        x_m, y_m = np.asarray(xy_m, np.float64).T
        lon_deg, lat_deg = _transformer(self.epsg, WGS84_EPSG).transform(x_m, y_m)
        return lat_deg, lon_deg

    def area_of_box(self, west: float, south: float, east: float, north: float) -> Area:
        """The metric rectangle around a box in degrees, whose edges bulge in metres."""
        return Area(*_transformer(WGS84_EPSG, self.epsg).transform_bounds(west, south, east, north))


@dataclass(frozen=True)
class LocalPlane:
    """Metres east and north of a centre, in the UTM zone of the centre."""

    middle_deg: tuple[float, float]

    def degrees(self, xy_m: Floats) -> tuple[Floats, Floats]:
        """Latitude and longitude."""
        projection, middle_m = self._origin
        return projection.degrees(np.asarray(xy_m) + middle_m)

    def metres(self, lat_deg: Floats, lon_deg: Floats) -> Floats:
        """East and north of the centre, one row per place."""
        projection, middle_m = self._origin
        return projection.metres(lat_deg, lon_deg) - middle_m

    @property
    def _origin(self) -> tuple[Projection, Floats]:
        """The zone, and the centre in its metres."""
        lat_deg, lon_deg = np.reshape(self.middle_deg, (2, 1))
        projection = Projection.utm_for(lat_deg, lon_deg)
        return projection, projection.metres(lat_deg, lon_deg)


def box_faults(what: str, box: tuple[float, float, float, float]) -> Iterator[UserError]:
    """What is wrong with a box given as west, south, east, north in degrees."""
    west, south, east, north = box
    if not (-180 <= west < east <= 180 and -90 <= south < north <= 90):
        yield UserError(
            f"{what} must be west south east north in degrees, with west < east and south < north, "
            f"got {box}"
        )


def distance_m(lat_deg: Floats, lon_deg: Floats, lat0_deg: float, lon0_deg: float) -> Floats:
    """Distances from one place, on a sphere, accurate to half a percent."""
    turn_lat, turn_lon = np.radians(lat_deg - lat0_deg) / 2, np.radians(lon_deg - lon0_deg) / 2
    shrink = np.cos(np.radians(lat_deg)) * np.cos(np.radians(lat0_deg))
    half = np.sin(turn_lat) ** 2 + shrink * np.sin(turn_lon) ** 2
    arc: Floats = 2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    return arc


@lru_cache(maxsize=8)
def _is_metric(epsg: int) -> bool:
    try:
        crs = CRS.from_epsg(epsg)
    except CRSError:
        return False
    return bool(crs.is_projected and all(axis.unit_name == "metre" for axis in crs.axis_info))


@lru_cache(maxsize=8)
def _transformer(from_epsg: int, to_epsg: int) -> Transformer:
    return Transformer.from_crs(from_epsg, to_epsg, always_xy=True)
