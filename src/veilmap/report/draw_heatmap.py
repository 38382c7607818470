"""The heat map of one round beside the user's true points."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.canvas import as_written, fitted_sheet
from veilmap.inspection.labels import shortened
from veilmap.local_data import LocalData
from veilmap.report.ground import colour_bar, inches, lay_ground, view_around
from veilmap.report.tiles import Tiles, pooled
from veilmap.wording import counted

_PANEL = 4.8  # the longer side of a map, in inches
_COLOURS = "viridis"


def draw_heatmap(
    found: Reconstruction,
    truth: LocalData | None,
    area: Area,
    title: str,
    emd_m: float | None = None,
) -> Figure:
    """Both as shares per tile, with the same tiles and colour scale.

    Dots would show a night at home as large as a minute on the road. The colour scale is the square
    root, since a home would otherwise outshine all routes. ``emd_m`` is the sliced EMD of the two.
    """
    cloud = pooled([found.cloud])
    view = view_around(area.corners_m)
    tiles = Tiles.fitting(cloud, view)
    panels = {_found_facts(cloud, area): cloud}
    if truth:
        really = Cloud(truth.xy_m, np.full(len(truth), 1 / max(len(truth), 1)))
        panels[f"where the user was\n{counted(len(truth), 'point')}"] = really
    shares = [tiles.shares(each) for each in panels.values()]
    colours = PowerNorm(0.5, 0, max(float(each.max()) for each in shares) or 1.0)
    wide, high = inches(view, _PANEL)
    figure = fitted_sheet((len(panels) * wide + 2.2, high + 1.7))
    grid = figure.subplots(1, len(panels), squeeze=False)
    for axes, heading, each in zip(grid.flat, panels, shares, strict=True):
        lay_ground(axes, view, area)
        _draw_tiles(axes, tiles, each, colours, area)
        axes.set_title(heading, fontsize=9)
        axes.label_outer()
    east_m, north_m = tiles.sides_m
    label = f"share per tile of {east_m:.0f} x {north_m:.0f} m (square-root scale)"
    percent = PercentFormatter(1, symbol=" %")
    colour_bar(figure, ScalarMappable(colours, _COLOURS), grid, label, format=percent)
    figure.suptitle(f"{as_written(title)}\n{_facts(found, emd_m)}", fontsize=11)
    return figure


def _draw_tiles(
    axes: Axes, tiles: Tiles, shares: NDArray[np.float64], colours: PowerNorm, area: Area
) -> None:
    x_km, y_km = (tiles.x_edges_m - area.x_min_m) / 1000, (tiles.y_edges_m - area.y_min_m) / 1000
    shown = np.ma.masked_equal(shares, 0)
    axes.pcolormesh(x_km, y_km, shown, norm=colours, cmap=_COLOURS, zorder=1)


def _found_facts(cloud: Cloud, area: Area) -> str:
    if not len(cloud.weights):
        return "the heat map\nfound nothing"
    inside = cloud.weights[area.contains(cloud.xy_m)].sum()
    return f"the heat map\n{100 * inside:.0f} % of its weight inside the area"


def _facts(found: Reconstruction, emd_m: float | None) -> str:
    whose = f"round {found.round}, user {as_written(shortened(found.user, 24))}"
    return whose if emd_m is None else f"{whose}: sliced EMD {emd_m:,.0f} m"
