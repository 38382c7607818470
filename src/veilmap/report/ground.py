"""What all maps of an attack share: kilometres from the area's corner, its outline, the truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.local_data import LocalData

# Safe for the colour-blind.
TRUTH, CENTROID, START, ACCENT = "#A9BCD6", "#16243B", "#F0E442", "#D55E00"

_LEAST_SIDE_M = 50.0
_WIDEST = 2.0  # a view's longer side over its shorter
_MARGIN = 0.07  # room for the arrows to what lies outside

_OUTLINE: dict[str, Any] = {"color": "0.6", "linewidth": 0.8, "linestyle": (0, (4, 3))}
# Rasterised: in a PDF, tens of thousands of points would each be drawn when it is opened.
_POINTS: dict[str, Any] = {
    "rasterized": True, "linestyle": "", "marker": "s", "markersize": 2.0,
    "markerfacecolor": TRUTH, "markeredgewidth": 0,
}  # fmt: skip
_CENTROIDS: dict[str, Any] = {
    "linestyle": "", "marker": "+", "markersize": 5.0, "markeredgecolor": CENTROID,
    "markeredgewidth": 1.1,
    "path_effects": [withStroke(linewidth=2.6, foreground="white")],  # seen on circles too
}  # fmt: skip

Points = NDArray[np.float64]


def view_around(*sets_xy_m: Points, margin: float = _MARGIN) -> Area:
    """A rectangle around all points with a margin, neither tiny nor a thin strip."""
    whole = Area.around(np.concatenate(sets_xy_m))
    sides_m = np.maximum([whole.width_m, whole.height_m], _LEAST_SIDE_M)
    sides_m = np.maximum(sides_m, sides_m.max() / _WIDEST) * (1 + 2 * margin)
    return Area.around(whole.centre_m + np.array([-sides_m, sides_m]) / 2)


def inches(view: Area, longer_side: float) -> tuple[float, float]:
    """Width and height of a map on paper."""
    scale = longer_side / max(view.width_m, view.height_m)
    return view.width_m * scale, view.height_m * scale


def in_km(xy_m: Points, area: Area) -> tuple[Points, Points]:
    """East and north of the area's lower left corner, in kilometres."""
    x_km, y_km = (np.asarray(xy_m, np.float64) - area.corners_m[0]).reshape(-1, 2).T / 1000
    return x_km, y_km


def lay_ground(axes: Axes, view: Area, area: Area) -> None:
    """Equal scales, units and the outline of the area."""
    frame(axes, view, area)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("km east of the area's corner", fontsize=8)
    axes.set_ylabel("km north of the area's corner", fontsize=8)
    axes.tick_params(labelsize=8)


def frame(axes: Axes, view: Area, area: Area) -> None:
    """Equal scales and the outline of the area, without any units."""
    (left, right), (bottom, top) = in_km(view.corners_m, area)
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    (_, width), (_, height) = in_km(area.corners_m, area)
    axes.plot([0, width, width, 0, 0], [0, 0, height, height, 0], **_OUTLINE, zorder=0.5)


def draw_truth(axes: Axes, batches: Sequence[LocalData], area: Area, centroid: float = 5.0) -> None:
    """The points of some rounds in one light colour, their centroids ``centroid`` points wide."""
    batches = [batch for batch in batches if len(batch)]
    if not batches:
        return
    draw_points(axes, np.concatenate([batch.xy_m for batch in batches]), area)
    draw_centroids(axes, np.array([batch.centroid_m for batch in batches]), area, centroid)


def draw_points(axes: Axes, xy_m: Points, area: Area) -> None:
    """True points in one light colour."""
    axes.plot(*in_km(xy_m, area), **_POINTS, zorder=1)


def draw_centroids(axes: Axes, xy_m: Points, area: Area, size: float = 5.0) -> None:
    """True centroids as crosses of so many points."""
    look = _CENTROIDS | {"markersize": size}
    axes.plot(*in_km(xy_m, area), **look, zorder=3.5)


def round_colours(rounds: Sequence[int]) -> Normalize:
    """The range of a colour bar for these rounds; a single round is in the middle."""
    low, high = min(rounds, default=0), max(rounds, default=0)
    return Normalize(low, high) if low < high else Normalize(low - 0.5, high + 0.5)


def round_bar(
    figure: Figure, rounds: Normalize, colours: str | Colormap, panels: Sequence[Axes]
) -> None:
    """One bar for all maps, with ticks at whole rounds."""
    ticks = MaxNLocator(8, integer=True)
    colour_bar(figure, ScalarMappable(rounds, colours), panels, "round", ticks=ticks)


def colour_bar(
    figure: Figure, colours: ScalarMappable, panels: Any, label: str, **options: Any
) -> Colorbar:
    """A colour bar beside one or several maps, in their font sizes."""
    bar = figure.colorbar(colours, ax=panels, shrink=0.9, aspect=30, **options)
    bar.set_label(label, fontsize=9)
    bar.ax.tick_params(labelsize=8)
    return bar


def legend(
    view: Area, area: Area, *, with_truth: bool, with_centroids: bool = True
) -> list[Line2D]:
    """Legend entries of what ``lay_ground`` and ``draw_truth`` draw in the view."""
    outline = Line2D([], [], label="the area", **_OUTLINE)
    handles = [] if area.contains(view.corners_m).all() else [outline]
    if with_truth:
        look = _POINTS | {"markersize": 4}
        handles.append(Line2D([], [], label="true points", **look))
    if with_truth and with_centroids:
        handles.append(Line2D([], [], label="true centroid", **_CENTROIDS))
    return handles
