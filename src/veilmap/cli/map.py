"""``veilmap map``."""

from pathlib import Path
from typing import Literal

import numpy as np

from veilmap.cli.console import say
from veilmap.kriging.calibration import FEW_PLACES
from veilmap.maps.kriging_map import KrigingMap
from veilmap.signal_map.export import FORMATS, export
from veilmap.signal_map.raster import Raster
from veilmap.signal_map.signal_map import SignalMap
from veilmap.study.run_folder import RunFolder
from veilmap.wording import counted


def map_(
    run: Path,
    *,
    format: Literal["geotiff", "geojson", "png"] | None = None,
    resolution: float | None = None,
    out: Path | None = None,
) -> None:
    """Write the predicted signal map of a run's area, georeferenced.

    Args:
        run: the folder written by "veilmap train --out".
        format: file format; by default the one that --out ends in, else geotiff. All open in QGIS
            (png with the files beside it).
        resolution: metres per pixel. Default: the side of the map's squares; for maps without
            squares about 400 pixels along the longer side (geojson: 100).
        out: the file to write. Default: map.tif, map.geojson or map.png in the run's folder.
    """
    path = out or run / f"map{FORMATS[format or 'geotiff'].endings[0]}"
    signal_map = RunFolder(run).load_map()
    raster = export(signal_map, path, format, resolution)
    rows, columns = raster.rsrp_dbm.shape
    say(
        f"wrote {path}: {columns} x {rows} squares of {raster.resolution_m:g} m, "
        f"{_said(raster)}, EPSG:{raster.projection.epsg}"
    )
    if isinstance(signal_map.facts.map, KrigingMap):
        say(_calibrated(signal_map.facts.map, signal_map))
        say("it shows which squares phones visited; protect it like the data")


def _calibrated(family: KrigingMap, signal_map: SignalMap) -> str:
    """What the uncertainty rests on."""
    count = family.calibration(signal_map.facts.area, signal_map.state).places
    if not count:
        return "uncertainty not calibrated: that takes visits in two rounds or more"
    text = f"uncertainty calibrated on {counted(count, 'place')} of 50 m in rounds set aside"
    return text if count >= FEW_PLACES else f"{text}; with fewer than {FEW_PLACES} it is rough"


def _said(raster: Raster) -> str:
    """What the map says, and of how much of the area."""
    if raster.range_dbm is None:
        return "nothing is known anywhere"
    low, high = raster.range_dbm
    text = f"{low:.1f} to {high:.1f} dBm"
    if raster.std_db is not None:
        text += f" ± {np.nanmedian(raster.std_db):.1f} dB (median)"
    if raster.known_share < 1:
        text += f", no data for {1 - raster.known_share:.0%} of the area"
    return text
