"""Dot maps side by side, in kilometres from their common centre."""

from math import ceil, floor, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from veilmap.canvas import as_written, colour_range, fitted_sheet
from veilmap.inspection.labels import shortened
from veilmap.inspection.maps import MapPanel, Maps
from veilmap.measurements import Measurements
from veilmap.wording import counted

_COLUMNS = 4
_PANEL = 3.2  # the longer side of a map, in inches
_TITLES, _LABELS, _COLOUR_BAR = 0.7, 0.9, 0.9  # room for them, in inches
_NARROWEST = 6.0


def draw_maps(maps: Maps, data: Measurements, heading: str) -> Figure:
    """All maps on one sheet, with one colour bar."""
    columns = min(len(maps.panels), _COLUMNS)
    rows = ceil(len(maps.panels) / columns)
    figure = fitted_sheet(_sheet_size(maps.panels[0], columns, rows))
    grid = figure.subplots(rows, columns, squeeze=False)
    size = _dot_size(max(len(panel.xy_m) for panel in maps.panels))
    colours = Normalize(*colour_range(*maps.range_dbm))
    for axes, panel in zip(grid.flat, maps.panels, strict=False):
        x_km, y_km = panel.xy_m.T / 1000
        axes.scatter(x_km, y_km, size, panel.rsrp_dbm, norm=colours, cmap="viridis", linewidths=0)
        _label(axes, panel)
    for axes in grid.flat[len(maps.panels) :]:
        axes.set_axis_off()
    scale = ScalarMappable(colours, "viridis")
    figure.colorbar(scale, ax=grid, label="RSRP in dBm", extend="both", aspect=15 * rows + 5)
    figure.suptitle(f"{heading}\n{_facts(data)}", fontsize=11)
    return figure


def _sheet_size(panel: MapPanel, columns: int, rows: int) -> tuple[float, float]:
    """In inches; all maps of a sheet have the shape of the first."""
    scale = _PANEL / max(panel.frame.width_m, panel.frame.height_m)
    wide, high = panel.frame.width_m * scale, panel.frame.height_m * scale
    return (
        max(columns * (wide + _LABELS) + _COLOUR_BAR, _NARROWEST),
        rows * (high + _LABELS) + _TITLES,
    )


def _facts(data: Measurements) -> str:
    counts = ((len(data), "measurement"), (len(data.users), "user"), (len(data.cells), "cell"))
    return (
        f"{as_written(shortened(data.source, 40))}: {', '.join(counted(*each) for each in counts)}"
    )


def _dot_size(dots: int) -> float:
    """In square points: large enough to be seen if few, small enough not to overlap if many."""
    return float(np.clip(20_000 / max(dots, 1), 3.0, 20.0))


def _label(axes: Axes, panel: MapPanel) -> None:
    frame = panel.frame
    facts = counted(panel.points, "measurement")
    if panel.outside:
        facts += f", {panel.outside:,} outside the frame"
    axes.set_title(f"{as_written(panel.title)}\n{facts}", fontsize=9)
    axes.set_xlim(frame.x_min_m / 1000, frame.x_max_m / 1000)
    axes.set_ylim(frame.y_min_m / 1000, frame.y_max_m / 1000)
    axes.set_aspect("equal")
    step_km = round_step(max(frame.width_m, frame.height_m) / 1000)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MultipleLocator(step_km))
    axes.set_xlabel("km east of the middle", fontsize=8)
    axes.set_ylabel("km north of the middle", fontsize=8)
    axes.tick_params(labelsize=8)


def round_step(side_km: float) -> float:
    """The tick step: the smallest of 1, 2, 5, 10 … that gives at most five intervals."""
    power = 10.0 ** floor(log10(side_km / 5))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= side_km / 5)
