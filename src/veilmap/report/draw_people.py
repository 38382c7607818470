"""The home errors over people: which share of them an attack locates to within a distance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from veilmap.canvas import as_written, fitted_sheet
from veilmap.errors import UserError
from veilmap.metrics.people import HomeErrors
from veilmap.metrics.people_found import RADII_M
from veilmap.report.looks import (
    PLAIN,
    defence_looks,
    family_of,
    mark_style,
    scheme_fillings,
    scheme_of,
)
from veilmap.report.number_axes import figure_axis
from veilmap.report.sheet import LABEL, WIDTH, head, legend_below, plain_panel

_HIGH, _PER_LINE = 3.2, 0.17  # of the figure, and of a line of its legend, in inches
# A logarithm has no 0; nearer than a metre nobody is located.
_LEAST_M = 1.0
_MOST_MARKED = 12  # of more people single marks would cover the line
# With few people many lines run at the same height; they are drawn side by side.
_ASIDE = 0.007
_GUESSES: Mapping[str, Any] = {"blind": "--", "prior": ":"}


def draw_people(people: Sequence[HomeErrors], label: str, title: str) -> Figure:
    """The cumulative distribution of every configuration's home errors, and that of the guesses.

    Logarithmic, because errors of 10 m and of 1,000 m are both there. Distances of the figures in
    the text are marked by lines.

    Args:
        people: the configurations under their strongest attack; guesses among them are lines of
            reference.
        label: of the distances.
        title: over the figure.
    """
    if not people:
        raise UserError(f"there is nobody to draw in {title!r}, got no home errors; run an attack")
    figure = fitted_sheet((WIDTH, _HIGH + _PER_LINE * len(people)), pad=0.06)
    axes = figure.subplots()
    plain_panel(axes, "", along="y")
    low_m, far_m = _reach_m(people)
    attacked = [each for each in people if not each.is_guess]
    looks = _looks(attacked)
    for number, each in enumerate(attacked):
        aside = _ASIDE * ((len(attacked) - 1) / 2 - number)
        _draw(axes, each, looks[each.configuration], aside, far_m)
    for each in people:
        if each.is_guess:
            style = {
                "color": "0.25",
                "linestyle": _GUESSES.get(str(each.attack), "-."),
                "zorder": 2,
            }
            _draw(axes, each, {**style, "label": each.called}, 0.0, far_m)
    _set_axes(axes, low_m, far_m)
    axes.set_xlabel(f"{label}, m: right is private", fontsize=LABEL)
    axes.set_ylabel("share of the people", fontsize=LABEL)
    legend_below(figure, axes.get_legend_handles_labels()[0])
    head(figure, title)
    return figure


def _looks(attacked: Sequence[HomeErrors]) -> dict[str, dict[str, Any]]:
    """Colours and marks by configuration, as in the other pictures."""
    names = [each.configuration for each in attacked]
    families, fillings = defence_looks(map(family_of, names)), scheme_fillings(names)
    return {
        name: {
            **mark_style(
                families[family_of(name)],
                fillings[scheme_of(name)],
                is_plain=family_of(name) == PLAIN,
            ),
            "label": as_written(name),
        }
        for name in names
    }


def _draw(
    axes: Axes, each: HomeErrors, look: Mapping[str, Any], aside: float, far_m: float
) -> None:
    """Up by one person at every error; to the edge where some are never located."""
    errors_m = np.maximum([error for error in each.errors_m if np.isfinite(error)], _LEAST_M)
    if not len(errors_m):
        axes.plot([], [], linewidth=1.3, **look)
        return
    is_few = each.people <= _MOST_MARKED
    shares = np.arange(len(errors_m) + 1) / each.people
    shares[1:] += aside if is_few else 0.0
    marked = range(1, len(errors_m) + 1) if is_few else [int(0.5 * each.people)]
    axes.plot(
        errors_m[[0, *range(len(errors_m))]], shares, drawstyle="steps-post", linewidth=1.3,
        markevery=[m for m in marked if m <= len(errors_m)], **look,
    )  # fmt: skip
    if len(errors_m) < each.people:
        axes.hlines(shares[-1], errors_m[-1], far_m, colors=look["color"], linewidth=1.3)


def _reach_m(people: Sequence[HomeErrors]) -> tuple[float, float]:
    """Where the axis begins and ends."""
    errors_m = [error for each in people for error in each.errors_m if np.isfinite(error)]
    low_m = max(min(errors_m, default=RADII_M[0]), _LEAST_M)
    return low_m / 1.3, 1.3 * max(max(errors_m, default=RADII_M[-1]), low_m)


def _set_axes(axes: Axes, low_m: float, far_m: float) -> None:
    axes.set_xlim(low_m, far_m)
    figure_axis(axes.xaxis, log=True)
    axes.set_ylim(-0.02, 1.06)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    for radius_m in RADII_M:
        axes.axvline(radius_m, color="0.85", linewidth=0.8, zorder=0)
