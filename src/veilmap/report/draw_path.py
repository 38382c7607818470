"""The path of one attack, from its start to its end."""

from math import log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import StrMethodFormatter

from veilmap.area import Area
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.canvas import as_written, fitted_sheet
from veilmap.errors import UserError
from veilmap.inspection.labels import shortened
from veilmap.local_data import LocalData
from veilmap.report.ground import (
    ACCENT,
    START,
    Points,
    colour_bar,
    draw_truth,
    in_km,
    inches,
    lay_ground,
    legend,
    view_around,
)
from veilmap.wording import counted

_PANEL = 5.5  # the longer side of the map, in inches


def draw_path(found: Reconstruction, truth: LocalData | None, area: Area, title: str) -> Figure:
    """The dummy location at every iteration, the first one being the start."""
    return draw_way(_path_m(found), truth, area, f"{as_written(title)}\n{_facts(found, truth)}")


def draw_way(path_m: Points, truth: LocalData | None, area: Area, heading: str) -> Figure:
    """A path, under a heading as matplotlib takes it.

    The view fits the path and the points, not the area, so that an attack that leaves it is
    visible.
    """
    points_m = truth.xy_m if truth else np.empty((0, 2))
    view = view_around(path_m, points_m)
    wide, high = inches(view, _PANEL)
    figure = fitted_sheet((wide + 2.0, high + 1.5))
    axes = figure.add_subplot()
    lay_ground(axes, view, area)
    draw_truth(axes, [truth] if truth else [], area, centroid=11)
    lines = _draw_line(axes, path_m, area)
    bar = colour_bar(figure, lines, axes, "iteration (log scale)")
    bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ends = _draw_ends(axes, path_m, area)
    handles = [*legend(view, area, with_truth=bool(truth)), *ends]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    figure.suptitle(heading, fontsize=11)
    return figure


def _path_m(found: Reconstruction) -> Points:
    if found.path_m is None:
        raise UserError(
            f"the attack on round {found.round} has no path to draw, got path_m = None; "
            "let the attack keep its path"
        )
    path_m = found.path_m[np.isfinite(found.path_m).all(axis=1)]
    if not len(path_m):
        raise UserError(
            f"the path of the attack on round {found.round} has no finite location, got "
            f"{len(found.path_m)} that are not; lower learning_rate"
        )
    return path_m


def _draw_line(axes: Axes, path_m: Points, area: Area) -> LineCollection:
    steps = len(path_m) - 1
    places_km = np.column_stack(in_km(path_m, area))
    segments = np.stack([places_km[:-1], places_km[1:]], axis=1)
    lines = LineCollection(
        list(segments), array=np.arange(1, steps + 1), cmap="viridis_r",
        norm=LogNorm(1, 10 ** max(log10(max(steps, 1)), 1)),
        linewidths=1.8, capstyle="round", zorder=2,
    )  # fmt: skip
    axes.add_collection(lines, autolim=False)
    return lines


def _draw_ends(axes: Axes, path_m: Points, area: Area) -> list[Line2D]:
    handles = []
    for label, place_m, marker, colour in (
        ("start", path_m[0], "D", START),
        ("end", path_m[-1], "o", ACCENT),
    ):
        handles += axes.plot(
            *in_km(place_m, area), linestyle="", marker=marker, markersize=8, label=label,
            markerfacecolor=colour, markeredgecolor="black", markeredgewidth=0.8, zorder=3,
        )  # fmt: skip
    return handles


def _facts(found: Reconstruction, truth: LocalData | None) -> str:
    whose = f"round {found.round}, user {as_written(shortened(found.user, 24))}"
    after = f"after {counted(found.iterations, 'iteration')}"
    if not np.isfinite(found.xy_m).all():
        return f"{whose}: no location {after}"
    if not truth:
        return f"{whose}: ended {after}"
    away_m = np.linalg.norm(found.xy_m - truth.centroid_m)
    return f"{whose}: {away_m:,.0f} m from the centroid {after}"
