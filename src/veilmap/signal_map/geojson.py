"""GeoJSON (RFC 7946): a square for each known pixel of the raster, in WGS 84 degrees."""

import json
from typing import Any

import numpy as np

from veilmap.signal_map.raster import Raster


def geojson(raster: Raster) -> bytes:
    """The bytes of the file."""
    rows, columns = raster.rsrp_dbm.shape
    x_m = raster.x_min_m + np.arange(columns + 1) * raster.resolution_m
    y_m = raster.y_max_m - np.arange(rows + 1) * raster.resolution_m
    corners_m = np.stack(np.meshgrid(x_m, y_m), axis=-1)
    lat_deg, lon_deg = raster.projection.degrees(corners_m.reshape(-1, 2))
    if np.ptp(lon_deg) > 180:  # across the date line: count on beyond 180
        lon_deg = lon_deg % 360
    # Seven decimals are a centimetre.
    corners = np.column_stack([lon_deg, lat_deg]).round(7).reshape(rows + 1, columns + 1, 2)
    features = [
        _feature(corners, row, column, _properties(raster, row, column))
        for row in range(rows)
        for column in range(columns)
        if not np.isnan(raster.rsrp_dbm[row, column])
    ]
    collection = {"type": "FeatureCollection", "name": f"cell {raster.cell}", "features": features}
    return json.dumps(collection, separators=(",", ":")).encode()


def _properties(raster: Raster, row: int, column: int) -> dict[str, float | int]:
    found: dict[str, float | int] = {"rsrp_dbm": round(float(raster.rsrp_dbm[row, column]), 2)}
    if raster.std_db is not None:
        found["std_db"] = round(float(raster.std_db[row, column]), 2)
    if raster.visits is not None:
        found["visits"] = int(raster.visits[row, column])
    return found


def _feature(
    corners: Any, row: int, column: int, properties: dict[str, float | int]
) -> dict[str, Any]:
    # Counter-clockwise from the south-west corner, closed, as the standard asks.
    steps = ((1, 0), (1, 1), (0, 1), (0, 0), (1, 0))
    ring = [corners[row + down, column + right].tolist() for down, right in steps]
    return {
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": properties,
    }
