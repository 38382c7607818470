"""Where the attacks place a user, round by round, one map per attack."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.attacks.reconstruction import Cloud, Reconstruction
from veilmap.canvas import as_written, fitted_sheet
from veilmap.errors import UserError
from veilmap.local_data import LocalData
from veilmap.report.ground import (
    ACCENT,
    Points,
    draw_truth,
    in_km,
    inches,
    lay_ground,
    legend,
    round_bar,
    round_colours,
    view_around,
)
from veilmap.report.sheet import panel_grid, panels_of
from veilmap.report.tiles import Tiles, pooled

_PANEL = 3.9  # the longer side of a map, in inches
_LABELS, _TITLES, _COLOUR_BAR = 0.45, 1.5, 1.3  # room for them, in inches
_NARROWEST = 6.5
_LARGEST_BUBBLE = 9.0  # its width in points
_COLOURS = "viridis"


def draw_whereabouts(
    method_results: Mapping[str, Sequence[Reconstruction]],
    truth: Mapping[int, LocalData] | None,
    area: Area,
    title: str,
) -> Figure:
    """One map per attack; ``truth`` is the user's data by round, None if it is not known.

    Where an attack sees a whole distribution, bubbles show its weight over all rounds.
    """
    if not method_results:
        raise UserError("there is no attack to draw, got no results; run at least one attack")
    view = view_around(area.corners_m)
    figure, panels = _sheet(view, len(method_results))
    rounds = round_colours([each.round for found in method_results.values() for each in found])
    clouds = {method: _gathered(results, view) for method, results in method_results.items()}
    largest = max(float(cloud.weights.max(initial=0)) for cloud in clouds.values())
    for axes, (method, results) in zip(panels, method_results.items(), strict=True):
        lay_ground(axes, view, area)
        draw_truth(axes, list((truth or {}).values()), area)
        _draw_weights(axes, clouds[method], largest, area)
        _draw_found(axes, results, rounds, area, view)
        axes.set_title(f"{as_written(method)}\n{_facts(results, area)}", fontsize=9)
        axes.label_outer()
    round_bar(figure, rounds, _COLOURS, panels)
    handles = [*legend(view, area, with_truth=bool(truth)), *_legend(largest)]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    figure.suptitle(as_written(title), fontsize=11)
    return figure


def _sheet(view: Area, panels: int) -> tuple[Figure, list[Axes]]:
    rows, columns = panel_grid(panels)
    wide, high = inches(view, _PANEL)
    sheet_wide = max(columns * wide + _LABELS + _COLOUR_BAR, _NARROWEST)
    figure = fitted_sheet((sheet_wide, rows * (high + _LABELS) + _TITLES))
    return figure, panels_of(figure, panels)


def _gathered(results: Sequence[Reconstruction], view: Area) -> Cloud:
    """The weight of all rounds; empty for attacks that find single locations."""
    cloud = pooled(each.cloud for each in results if len(each.cloud.weights) > 1)
    return Tiles.fitting(cloud, view).gathered(cloud)


def _draw_weights(axes: Axes, cloud: Cloud, largest: float, area: Area) -> None:
    if len(cloud.weights):
        sizes = _LARGEST_BUBBLE**2 * cloud.weights / largest
        axes.scatter(
            *in_km(cloud.xy_m, area), sizes, ACCENT, alpha=0.7, linewidths=0, zorder=2,
            label="weight", rasterized=True,
        )  # fmt: skip


def _draw_found(
    axes: Axes, results: Sequence[Reconstruction], rounds: Normalize, area: Area, view: Area
) -> None:
    """The locations inside the area as dots, the others as arrows."""
    found = _finite(results)
    if not found:
        return
    xy_m, when = np.array([each.xy_m for each in found]), np.array([each.round for each in found])
    inside = area.contains(xy_m)
    axes.scatter(
        *in_km(xy_m[inside], area), 20, when[inside], norm=rounds, cmap=_COLOURS,
        edgecolors="black", linewidths=0.4, zorder=3, label="found",
    )  # fmt: skip
    if not inside.all():
        _draw_arrows(axes, xy_m[~inside], when[~inside], rounds, area, view)


def _draw_arrows(
    axes: Axes, xy_m: Points, when: NDArray[np.int64], rounds: Normalize, area: Area, view: Area
) -> None:
    """Arrows with the tip at the location, or at the edge of the view if it lies beyond."""
    way_m = xy_m - area.centre_m
    # Not the norm: the squares of a location that diverged may overflow.
    distance_m = np.hypot(*way_m.T)[:, None]
    direction = way_m / distance_m
    tips_m = area.centre_m + direction * np.minimum(distance_m, _reach_m(direction, view))
    axes.quiver(
        *in_km(tips_m, area), *direction.T, when,
        norm=rounds, cmap=_COLOURS, pivot="tip", angles="xy", units="inches", scale_units="inches",
        scale=6, width=0.03, headwidth=4.5, headlength=4.5, headaxislength=4.5,
        edgecolors="black", linewidths=0.4, zorder=4, label="outside",
    )  # fmt: skip


def _finite(results: Sequence[Reconstruction]) -> list[Reconstruction]:
    return [each for each in results if np.isfinite(each.xy_m).all()]


def _reach_m(direction: Points, view: Area) -> Points:
    """The distance from the centre of the view to just inside its edge."""
    half_m = np.array([view.width_m, view.height_m]) / 2
    with np.errstate(divide="ignore"):
        reach_m: Points = (half_m / np.abs(direction)).min(axis=1, keepdims=True)
    return 0.99 * reach_m


def _facts(results: Sequence[Reconstruction], area: Area) -> str:
    """How many left the area, and how many attacks found no location."""
    found = _finite(results)
    outside = sum(not area.contains(each.xy_m) for each in found)
    facts = f"{outside:,} of {len(results):,} left the area"
    nowhere = len(results) - len(found)
    return f"{facts}, {nowhere:,} found none" if nowhere else facts


def _legend(largest: float) -> list[Line2D]:
    dot: dict[str, Any] = {
        "linestyle": "", "markerfacecolor": "#21918C", "markeredgecolor": "black",
        "markeredgewidth": 0.4,
    }  # fmt: skip
    handles = [
        Line2D([], [], marker="o", markersize=4.5, label="found (colour: round)", **dot),
        Line2D([], [], marker=">", markersize=5, label="found outside the area", **dot),
    ]
    if largest > 0:
        share = _round_share(largest)
        wide = _LARGEST_BUBBLE * (share / largest) ** 0.5
        handles.append(
            Line2D([], [], marker="o", markersize=wide, markerfacecolor=ACCENT, alpha=0.7,
                   linestyle="", markeredgewidth=0,
                   label=f"{100 * share:g} % of the heat map's weight")
        )  # fmt: skip
    return handles


def _round_share(largest: float) -> float:
    """The largest of 1, 2, 5, 10 … % that is not above the largest bubble."""
    power = 10.0 ** np.floor(np.log10(largest))
    return float(max(power * digit for digit in (1, 2, 5) if power * digit <= largest))
