"""The ground of all maps of an attack: kilometres from the area's corner, the area, the truth."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.local_data import LocalData

TRUTH, CENTROID, ACCENT = "#A9BCD6", "#16243B", "#D55E00"  # told apart by the colour-blind

_LEAST_SIDE_M = 50.0
_WIDEST = 2.0  # a view's longer side over its shorter
_MARGIN = 0.07  # room for the arrows to what lies outside

_OUTLINE: dict[str, Any] = {"color": "0.6", "linewidth": 0.8, "linestyle": (0, (4, 3))}
# Rasterised: in a PDF, tens of thousands of points would each be drawn when it is opened.
_POINTS: dict[str, Any] = {
    "rasterized": True,
    "marker": "o",
    "markersize": 2.2,
    "markerfacecolor": TRUTH,
    "markeredgewidth": 0,
}
_CENTROIDS: dict[str, Any] = {
    "marker": "+",
    "markersize": 5.0,
    "markeredgecolor": CENTROID,
    "markeredgewidth": 1.1,
}

Points = NDArray[np.float64]


def view_around(*sets_xy_m: Points) -> Area:
    """A rectangle that holds all points with a margin, neither tiny nor a thin strip."""
    whole = Area.around(np.concatenate(sets_xy_m))
    sides_m = np.maximum([whole.width_m, whole.height_m], _LEAST_SIDE_M)
    sides_m = np.maximum(sides_m, sides_m.max() / _WIDEST) * (1 + 2 * _MARGIN)
    return Area.around(whole.centre_m + np.array([-sides_m, sides_m]) / 2)


def corners_m(area: Area) -> Points:
    """Lower left and upper right."""
    return np.array([[area.x_min_m, area.y_min_m], [area.x_max_m, area.y_max_m]])


def inches(view: Area, longer_side: float) -> tuple[float, float]:
    """Width and height of a map on paper."""
    scale = longer_side / max(view.width_m, view.height_m)
    return view.width_m * scale, view.height_m * scale


def in_km(xy_m: Points, area: Area) -> tuple[Points, Points]:
    """East and north of the area's lower left corner, in kilometres."""
    x_km, y_km = (np.asarray(xy_m, np.float64) - corners_m(area)[0]).reshape(-1, 2).T / 1000
    return x_km, y_km


def lay_ground(axes: Axes, view: Area, area: Area) -> None:
    """Equal scales, units and the outline of the area."""
    (left, right), (bottom, top) = in_km(corners_m(view), area)
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    (_, width), (_, height) = in_km(corners_m(area), area)
    axes.plot([0, width, width, 0, 0], [0, 0, height, height, 0], **_OUTLINE, zorder=0.5)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("km east of the area's corner", fontsize=8)
    axes.set_ylabel("km north of the area's corner", fontsize=8)
    axes.tick_params(labelsize=8)


def draw_truth(axes: Axes, batches: Sequence[LocalData], area: Area, centroid: float = 5.0) -> None:
    """The points of some rounds in one light colour, their centroids ``centroid`` points wide."""
    batches = [batch for batch in batches if len(batch)]
    if not batches:
        return
    points_km = in_km(np.concatenate([batch.xy_m for batch in batches]), area)
    axes.plot(*points_km, linestyle="", **_POINTS, zorder=1)
    centroids_km = in_km(np.array([batch.centroid_m for batch in batches]), area)
    axes.plot(*centroids_km, linestyle="", **_CENTROIDS | {"markersize": centroid}, zorder=3.5)


def legend(view: Area, area: Area, *, with_truth: bool) -> list[Line2D]:
    """What ``lay_ground`` and ``draw_truth`` draw, in words, as far as the view shows it."""
    outline = Line2D([], [], label="the area", **_OUTLINE)
    handles = [] if area.contains(corners_m(view)).all() else [outline]
    if with_truth:
        points = Line2D([], [], linestyle="", label="true points", **_POINTS | {"markersize": 4})
        centroid = Line2D([], [], linestyle="", label="true centroid", **_CENTROIDS)
        handles += [points, centroid]
    return handles


def label_bar(bar: Colorbar, label: str) -> None:
    """In the sizes of the maps beside it."""
    bar.set_label(label, fontsize=9)
    bar.ax.tick_params(labelsize=8)
