"""From a trained map to a file of a chosen format."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from pyproj import CRS

from veilmap.errors import unknown_choice
from veilmap.files import OPEN, PRIVATE, write_whole
from veilmap.signal_map.raster import Raster
from veilmap.signal_map.signal_map import SignalMap


def write_geotiff(raster: Raster, path: Path) -> None:
    """A raster with its projection inside."""
    from veilmap.signal_map.geotiff import geotiff

    write_whole(path, geotiff(raster), _mode(raster))


def write_geojson(raster: Raster, path: Path) -> None:
    """Squares in degrees."""
    from veilmap.signal_map.geojson import geojson

    write_whole(path, geojson(raster), _mode(raster))


def write_png(raster: Raster, path: Path) -> None:
    """A picture to look at; the files beside it place it in map software."""
    from veilmap.signal_map.picture import picture

    image, world = picture(raster, f"Signal map of cell {raster.cell}")
    write_whole(path, image, _mode(raster))
    write_whole(path.with_suffix(".pgw"), world.encode())
    # A world file has no projection; GDAL, and with it QGIS, looks for one here.
    wkt = escape(CRS.from_epsg(raster.projection.epsg).to_wkt())
    side_file = f"<PAMDataset><SRS>{wkt}</SRS></PAMDataset>\n"
    write_whole(path.with_name(path.name + ".aux.xml"), side_file.encode())


def _mode(raster: Raster) -> int:
    """For the owner alone, where the map shows which squares phones visited."""
    return OPEN if raster.visits is None else PRIVATE


@dataclass(frozen=True)
class MapFormat:
    """A file format: its endings, default and largest size, and writer."""

    endings: tuple[str, ...]
    longest_side: int
    max_pixels: int
    write: Callable[[Raster, Path], None]


FORMATS = {
    "geotiff": MapFormat((".tif", ".tiff"), 400, 25_000_000, write_geotiff),
    # A square costs 300 bytes of JSON, so there are fewer of them.
    "geojson": MapFormat((".geojson", ".json"), 100, 250_000, write_geojson),
    "png": MapFormat((".png",), 400, 25_000_000, write_png),
}
_BY_ENDING = {ending: known for known in FORMATS.values() for ending in known.endings}


def export(
    signal_map: SignalMap,
    path: str | Path,
    format_name: str | None = None,
    resolution_m: float | None = None,
) -> Raster:
    """Sample the map and write it; returns the raster.

    The format follows from the path's ending (.tif, .geojson, .png) unless it is given.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if format_name is None and ending not in _BY_ENDING:
        raise unknown_choice("ending of a map file", path.suffix, _BY_ENDING)
    if format_name is not None and format_name not in FORMATS:
        raise unknown_choice("format", format_name, FORMATS)
    chosen = _BY_ENDING[ending] if format_name is None else FORMATS[format_name]
    if ending not in chosen.endings:
        raise unknown_choice(f"ending of a {format_name} file", path.suffix, chosen.endings)
    raster = Raster.of(
        signal_map, chosen.longest_side, chosen.max_pixels, resolution_m=resolution_m
    )
    chosen.write(raster, path)
    return raster
