"""The signal strength of each row.

RSRP = power - slope · log10(distance to the nearest site) + shadowing + handling + fading, in whole
dBm. A cell id that spans 5,167 km² is an artefact of the public data (one number in use at many
places), so many sites carry it here. Shadowing is a Gaussian random field with squared-exponential
covariance, by random waves. Handling is one normal number per file (in a pocket, a car, a house),
fading one per row. The parameters are usual ones, with the power set for a mean of -96 dBm.
"""

import numpy as np
from numpy.typing import NDArray

from veilmap.faults import REPORTED_DBM
from veilmap.sources.london.world import Floats, London
from veilmap.streams import stream

SITE_SPACING_KM = 4.0  # one site per 16 km²
# Downtilt and streets: within this distance the signal hardly grows.
NEAR_M = 800.0
POWER_AT_1_KM_DBM = -88.0
SLOPE_DB = 30.0  # per decade of distance
SHADOWING_DB = 4.0
SHADOWING_LENGTH_M = 300.0
WAVES = 96
HANDLING_DB = 3.0
FADING_DB = 3.0


def draw_rsrp_dbm(seed: int, world: London, file: NDArray[np.int64], xy_m: Floats) -> Floats:
    """At each row's position; the sites and the field depend on the seed alone."""
    draw = stream(seed, "london", "radio")
    loss_db = SLOPE_DB * np.log10(_site_distance_m(world, xy_m, draw) / 1000)
    phone = stream(seed, "london", "phone")
    handling_db = phone.normal(0, HANDLING_DB, file.max() + 1)[file]
    fading_db = phone.normal(0, FADING_DB, len(xy_m))
    field_dbm = POWER_AT_1_KM_DBM - loss_db + _shadowing_db(xy_m, draw)
    rsrp_dbm: Floats = np.clip(np.round(field_dbm + handling_db + fading_db), *REPORTED_DBM)
    return rsrp_dbm


def _site_distance_m(world: London, xy_m: Floats, draw: np.random.Generator) -> Floats:
    """To the site of the position's square or of a square beside it, whichever is nearest."""
    side_m = 1000 * SITE_SPACING_KM
    size = np.array([world.width_km, world.height_km]) / SITE_SPACING_KM
    squares = np.ceil(size).astype(np.int64) + 2
    # One site at random in each square, with a margin of squares around the region.
    site_m = draw.random((*squares, 2)) * side_m
    square = np.floor(xy_m / side_m + size / 2).astype(np.int64) + 1
    nearest = np.full(len(xy_m), np.inf)
    for step in np.ndindex(3, 3):
        beside = np.clip(square + step - 1, 0, squares - 1)
        corner_m = (beside - 1 - size / 2) * side_m
        away = xy_m - corner_m - site_m[beside[:, 0], beside[:, 1]]
        nearest = np.minimum(nearest, np.hypot(*away.T))
    distance_m: Floats = np.hypot(nearest, NEAR_M)
    return distance_m


def _shadowing_db(xy_m: Floats, draw: np.random.Generator) -> Floats:
    waves = draw.normal(0, 1 / SHADOWING_LENGTH_M, (WAVES, 2))
    phases = draw.uniform(0, 2 * np.pi, WAVES)
    total = np.zeros(len(xy_m))
    for wave, phase in zip(waves, phases, strict=True):
        total += np.cos(xy_m @ wave + phase)
    field: Floats = SHADOWING_DB * np.sqrt(2 / WAVES) * total
    return field
