"""GeoTIFF: one band of 32-bit floats in dBm, in the map's own projection."""

from io import BytesIO

from PIL import Image
from PIL.TiffImagePlugin import ImageFileDirectory_v2

from veilmap.signal_map.raster import Raster

# Tag numbers and keys of the GeoTIFF standard (OGC 19-008r4).
_MODEL_PIXEL_SCALE, _MODEL_TIEPOINT, _GEO_KEYS, _GDAL_NODATA = 33550, 33922, 34735, 42113
_MODEL_TYPE, _RASTER_TYPE, _PROJECTED_CRS, _LINEAR_UNITS = 1024, 1025, 3072, 3076
_PROJECTED, _PIXEL_IS_AREA, _METRE = 1, 1, 9001
_ASCII, _SHORT, _DOUBLE = 2, 3, 12


def geotiff(raster: Raster) -> bytes:
    """The bytes of the file."""
    keys = (
        (_MODEL_TYPE, _PROJECTED),
        (_RASTER_TYPE, _PIXEL_IS_AREA),
        (_PROJECTED_CRS, raster.projection.epsg),
        (_LINEAR_UNITS, _METRE),
    )
    directory = [1, 1, 0, len(keys)]
    for key, value in keys:
        directory += [key, 0, 1, value]
    tags = ImageFileDirectory_v2()
    step_m = raster.resolution_m
    for tag, kind, values in (
        (_MODEL_PIXEL_SCALE, _DOUBLE, (step_m, step_m, 0.0)),
        (_MODEL_TIEPOINT, _DOUBLE, (0.0, 0.0, 0.0, raster.x_min_m, raster.y_max_m, 0.0)),
        (_GEO_KEYS, _SHORT, tuple(directory)),
        (_GDAL_NODATA, _ASCII, "nan"),
    ):
        tags.tagtype[tag] = kind
        tags[tag] = values
    file = BytesIO()
    image = Image.fromarray(raster.rsrp_dbm)
    image.save(file, "TIFF", tiffinfo=tags, compression="tiff_adobe_deflate")
    return file.getvalue()
