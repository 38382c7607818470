"""Maps of a user's points and of the locations found in each round, in panels side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.canvas import as_written, fitted_sheet, scale_bar
from veilmap.errors import Checked, UserError
from veilmap.report.ground import (
    Points,
    draw_centroids,
    draw_points,
    frame,
    in_km,
    legend,
    round_bar,
    round_colours,
    view_around,
)
from veilmap.report.sheet import (
    LABEL,
    TITLE,
    WIDTH,
    head,
    legend_below,
    panel_grid,
    panels_of,
    wrapped,
)

_LARGEST = 3.6  # the most that a map is wide, in inches
_LINE, _APART, _LEGEND, _COLOUR_BAR = 0.16, 0.12, 0.55, 0.85  # room for them, in inches
_MARGIN = 0.02  # a circle at the edge is not cut
# From light to dark, so that the order is seen in grey too; no blue, which are the points.
_COLOURS = ListedColormap(colormaps["YlOrRd"](np.linspace(0.3, 1.0, 256)), "later is darker")
_CHOSEN: dict[str, Any] = {
    "rasterized": True, "linestyle": "", "marker": "s", "markersize": 2.4,
    "markerfacecolor": "#08306B", "markeredgewidth": 0,
}  # fmt: skip
_FOUND, _SMALL, _MANY = 18.0, 9.0, 150  # the area of a circle, in square points, and if many


@dataclass(frozen=True)
class PlacePanel(Checked):
    """A map: where the user was, and the location found in each of ``rounds``.

    ``chosen_m`` are the points that a defence chose, ``centroid_m`` the true one or several.
    """

    title: str
    truth_m: Points
    found_m: Points
    rounds: NDArray[np.int64]
    chosen_m: Points | None = None
    centroid_m: Points | None = None

    def _faults(self) -> Iterator[UserError]:
        if len(self.rounds) != len(self.found_m):
            yield UserError(
                f"panel {self.title!r} must have a round for each location found, got "
                f"{len(self.rounds)} for {len(self.found_m)}"
            )
        for name in ("truth_m", "found_m", "chosen_m", "centroid_m"):
            shape = np.shape(_points(getattr(self, name)))
            if shape[-1] != 2:
                yield UserError(f"{name} of panel {self.title!r} must be n x 2, got shape {shape}")


def draw_places(panels: Sequence[PlacePanel], area: Area, title: str) -> Figure:
    """One map per panel, all of the same view and with the same colours for the rounds.

    What was found outside the area is not drawn but counted below the panel's title.
    """
    if not panels:
        raise UserError(f"there is no map to draw in {title!r}, got 0 panels; give at least one")
    rounds = [int(each) for panel in panels for each in panel.rounds]
    several = len(set(rounds)) > 1
    view = view_around(area.corners_m, margin=_MARGIN)
    side = _COLOUR_BAR if several else 0.0
    _, columns = panel_grid(len(panels))
    wide = min((WIDTH - side) / columns - _APART, _LARGEST)
    headings = [_heading(panel, area, wide) for panel in panels]
    figure = _sheet(view, wide, side, headings, title)
    grid, colours = panels_of(figure, len(panels)), round_colours(rounds)
    for axes, panel, heading in zip(grid, panels, headings, strict=True):
        _draw_panel(axes, panel, colours, area, view)
        axes.set_title(as_written(heading), fontsize=TITLE)
    _draw_scale_bar(figure, grid[0], view)
    if several:
        round_bar(figure, colours, _COLOURS, grid)
    legend_below(figure, _handles(panels, view, area))
    return figure


def _sheet(view: Area, wide: float, side: float, headings: Sequence[str], title: str) -> Figure:
    """As high as maps, headings and legend need; ``side`` is the room beside the maps."""
    rows, columns = panel_grid(len(headings))
    lines = 1 + max(heading.count("\n") for heading in headings)
    high = wide * view.height_m / view.width_m + lines * _LINE + 2 * _APART
    titled = 2 * _LINE if title else 0.0
    size = columns * (wide + _APART) + side, rows * high + titled + _LEGEND
    figure = fitted_sheet(size, pad=0.06)
    head(figure, title)
    return figure


def _draw_panel(axes: Axes, panel: PlacePanel, colours: Normalize, area: Area, view: Area) -> None:
    frame(axes, view, area)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)  # the outline of the area is the frame
    draw_points(axes, panel.truth_m, area)
    axes.plot(*in_km(_points(panel.chosen_m), area), **_CHOSEN, zorder=1.5)
    inside = area.contains(_points(panel.found_m))
    size = _FOUND if inside.sum() < _MANY else _SMALL
    axes.scatter(
        *in_km(panel.found_m[inside], area), size, panel.rounds[inside], norm=colours,
        cmap=_COLOURS, edgecolors="black", linewidths=0.5, zorder=3, label="found",
    )  # fmt: skip
    draw_centroids(axes, _points(panel.centroid_m), area, size=8.0)


def _points(xy_m: Points | None) -> Points:
    """One location as a table of one row; None as an empty table."""
    return np.empty((0, 2)) if xy_m is None else np.atleast_2d(xy_m)


def _heading(panel: PlacePanel, area: Area, wide: float) -> str:
    """The title, with how many left the area and how many attacks found no location."""
    found_m = panel.found_m
    nowhere = int((~np.isfinite(found_m)).any(axis=-1).sum())
    outside = int((~area.contains(found_m)).sum()) - nowhere
    counts = {"outside": outside, "found none": nowhere}
    facts = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    text = wrapped(panel.title, 0.93 * wide, TITLE)
    return f"{text}\n({facts})" if facts else text


def _draw_scale_bar(figure: Figure, axes: Axes, view: Area) -> None:
    """Below the map, where it covers nothing."""
    length_m, text = scale_bar(view.width_m)
    below = axes.transAxes + ScaledTranslation(0, -0.08, figure.dpi_scale_trans)
    left = (1 - 1 / (1 + 2 * _MARGIN)) / 2
    right = left + length_m / view.width_m
    axes.plot(
        [left, right], [0, 0], color="black", linewidth=2.0, solid_capstyle="butt",
        transform=below, clip_on=False,
    )  # fmt: skip
    axes.text(right + 0.02, 0, text, transform=below, va="center", fontsize=LABEL)


def _handles(panels: Sequence[PlacePanel], view: Area, area: Area) -> list[Line2D]:
    handles = legend(
        view, area,
        with_truth=any(len(panel.truth_m) for panel in panels),
        with_centroids=any(len(_points(panel.centroid_m)) for panel in panels),
    )  # fmt: skip
    if any(len(_points(panel.chosen_m)) for panel in panels):
        look = _CHOSEN | {"markersize": 4}
        handles.append(Line2D([], [], label="points chosen by the defence", **look))
    if any(len(panel.found_m) for panel in panels):
        found = Line2D(
            [], [], linestyle="", marker="o", markersize=_FOUND**0.5, label="found locations",
            markerfacecolor=_COLOURS(0.5), markeredgecolor="black", markeredgewidth=0.5,
        )  # fmt: skip
        handles.append(found)
    return handles
