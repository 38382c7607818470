"""From a trained map to a file of a chosen format."""

from collections.abc import Callable
from pathlib import Path

from pyproj import CRS

from veilmap.errors import unknown_choice
from veilmap.files import write_whole
from veilmap.signal_map.raster import Raster
from veilmap.signal_map.signal_map import SignalMap


def write_geotiff(raster: Raster, path: Path) -> None:
    """A raster with its projection inside."""
    from veilmap.signal_map.geotiff import geotiff

    write_whole(path, geotiff(raster))


def write_geojson(raster: Raster, path: Path) -> None:
    """Squares in degrees."""
    from veilmap.signal_map.geojson import geojson

    write_whole(path, geojson(raster))


def write_png(raster: Raster, path: Path) -> None:
    """A picture to look at; the .pgw and .prj files beside it place it in map software."""
    from veilmap.signal_map.picture import picture

    image, world = picture(raster, f"Signal map of cell {raster.cell}")
    write_whole(path, image)
    write_whole(path.with_suffix(".pgw"), world.encode())
    projection = CRS.from_epsg(raster.projection.epsg).to_wkt("WKT1_ESRI")
    write_whole(path.with_suffix(".prj"), projection.encode())


# Format → (ending, pixels along the longer side by default, writer).
FORMATS: dict[str, tuple[str, int, Callable[[Raster, Path], None]]] = {
    "geotiff": (".tif", 400, write_geotiff),
    # A square costs 300 bytes of JSON, so fewer of them.
    "geojson": (".geojson", 100, write_geojson),
    "png": (".png", 400, write_png),
}


def export(
    signal_map: SignalMap,
    path: str | Path,
    format_name: str | None = None,
    resolution_m: float | None = None,
) -> Raster:
    """Sample the map and write it; gives back what was written.

    The format is told by the path's ending (.tif, .geojson, .png) unless it is named.
    """
    path = Path(path)
    if format_name is None:
        format_name = {ending: name for name, (ending, _, _) in FORMATS.items()}.get(path.suffix)
    if format_name not in FORMATS:
        raise unknown_choice("format", format_name or path.suffix, FORMATS)
    _, longest_side, write = FORMATS[format_name]
    raster = Raster.of(signal_map, resolution_m=resolution_m, longest_side=longest_side)
    write(raster, path)
    return raster
