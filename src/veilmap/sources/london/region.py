"""The ground: metres around the middle of the region, to degrees inside it and back."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from veilmap.geo import EARTH_RADIUS_M, Projection
from veilmap.sources.london.world import CENTRE_DEG, London

Floats = NDArray[np.float64]


def degrees(world: London, xy_m: Floats) -> tuple[Floats, Floats]:
    """Latitude and longitude, reflected at the edges: who drives out is seen on the way back."""
    projection, centre_m = _centre()
    lat_deg, lon_deg = projection.degrees(xy_m + centre_m)
    half_lat = np.degrees(500 * world.height_km / EARTH_RADIUS_M)
    half_lon = np.degrees(500 * world.width_km / EARTH_RADIUS_M) / np.cos(np.radians(CENTRE_DEG[0]))
    return (
        CENTRE_DEG[0] + _reflected(lat_deg - CENTRE_DEG[0], half_lat),
        CENTRE_DEG[1] + _reflected(lon_deg - CENTRE_DEG[1], half_lon),
    )


def metres(lat_deg: ArrayLike, lon_deg: ArrayLike) -> Floats:
    """East and north of the middle, one row per place."""
    projection, centre_m = _centre()
    return projection.metres(np.atleast_1d(lat_deg), np.atleast_1d(lon_deg)) - centre_m


def _reflected(offset: Floats, half: float) -> Floats:
    """Into [-half, half]; what is inside stays."""
    reflected: Floats = np.abs((offset - half) % (4 * half) - 2 * half) - half
    return reflected


def _centre() -> tuple[Projection, Floats]:
    centre_deg = np.reshape(CENTRE_DEG, (2, 1))
    projection = Projection.utm_for(*centre_deg)
    return projection, projection.metres(*centre_deg)
