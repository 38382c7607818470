"""GeoTIFF: bands of 32-bit floats in the map's own projection, dBm and its uncertainty in dB."""

from io import BytesIO
from xml.sax.saxutils import escape

import numpy as np
import tifffile

from veilmap.signal_map.raster import Raster

# Tag numbers and keys of the GeoTIFF standard (OGC 19-008r4), and the tags of GDAL.
_MODEL_PIXEL_SCALE, _MODEL_TIEPOINT, _GEO_KEYS = 33550, 33922, 34735
_GDAL_METADATA, _GDAL_NODATA = 42112, 42113
_MODEL_TYPE, _RASTER_TYPE, _PROJECTED_CRS, _LINEAR_UNITS = 1024, 1025, 3072, 3076
_PROJECTED, _PIXEL_IS_AREA, _METRE = 1, 1, 9001
_ASCII, _SHORT, _DOUBLE = 2, 3, 12


def geotiff(raster: Raster) -> bytes:
    """The bytes of the file; NaN is nodata."""
    bands = {"RSRP": ("dBm", raster.rsrp_dbm)}
    if raster.std_db is not None:
        bands["uncertainty of RSRP, 68 %"] = ("dB", raster.std_db)
    keys = (
        (_MODEL_TYPE, _PROJECTED),
        (_RASTER_TYPE, _PIXEL_IS_AREA),
        (_PROJECTED_CRS, raster.projection.epsg),
        (_LINEAR_UNITS, _METRE),
    )
    directory = [1, 1, 0, len(keys)]
    for key, value in keys:
        directory += [key, 0, 1, value]
    step_m = raster.resolution_m
    tie_point = (0.0, 0.0, 0.0, raster.x_min_m, raster.y_max_m, 0.0)
    names = _metadata({name: unit for name, (unit, _) in bands.items()})
    file = BytesIO()
    tifffile.imwrite(
        file,
        np.stack([values for _, values in bands.values()]),
        photometric="minisblack",
        planarconfig="separate" if len(bands) > 1 else None,
        compression="zlib",
        metadata=None,
        extratags=[
            (_MODEL_PIXEL_SCALE, _DOUBLE, 3, (step_m, step_m, 0.0), True),
            (_MODEL_TIEPOINT, _DOUBLE, 6, tie_point, True),
            (_GEO_KEYS, _SHORT, len(directory), tuple(directory), True),
            (_GDAL_METADATA, _ASCII, 0, names, True),
            (_GDAL_NODATA, _ASCII, 0, "nan", True),
        ],
    )
    return file.getvalue()


def _metadata(units: dict[str, str]) -> str:
    """The names of the bands and their units, as GDAL keeps them."""
    items = "".join(
        f'<Item name="DESCRIPTION" sample="{band}" role="description">{escape(name)}</Item>'
        f'<Item name="UNITTYPE" sample="{band}" role="unittype">{unit}</Item>'
        for band, (name, unit) in enumerate(units.items())
    )
    return f"<GDALMetadata>{items}</GDALMetadata>"
