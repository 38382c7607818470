"""The region: conversion between metres around its centre and degrees inside it."""

import numpy as np

from veilmap.geo import EARTH_RADIUS_M, LocalPlane
from veilmap.sources.london.world import CENTRE_DEG, Floats, London

GROUND = LocalPlane(CENTRE_DEG)


def degrees(world: London, xy_m: Floats) -> tuple[Floats, Floats]:
    """Latitude and longitude, reflected at the edges, so that trips stay in the region."""
    lat_deg, lon_deg = GROUND.degrees(xy_m)
    half_lat = np.degrees(500 * world.height_km / EARTH_RADIUS_M)
    half_lon = np.degrees(500 * world.width_km / EARTH_RADIUS_M) / np.cos(np.radians(CENTRE_DEG[0]))
    return (
        CENTRE_DEG[0] + _reflected(lat_deg - CENTRE_DEG[0], half_lat),
        CENTRE_DEG[1] + _reflected(lon_deg - CENTRE_DEG[1], half_lon),
    )


def _reflected(offset: Floats, half: float) -> Floats:
    """Reflect into [-half, half]; points inside are unchanged."""
    return np.abs((offset - half) % (4 * half) - 2 * half) - half
