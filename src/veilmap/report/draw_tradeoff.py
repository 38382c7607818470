"""What a defence hides against what it costs: one panel per attack, one line per defence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import inf, isfinite
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from veilmap.canvas import as_written, fitted_sheet
from veilmap.defences.step import JOINED_BY

PLAIN = "no defence"
# Okabe and Ito's, told apart by the colour-blind; a defence looks the same in all pictures.
_STYLES = {
    PLAIN: ("black", "*"),
    "centre": ("#E69F00", "o"),
    "random": ("#999999", "s"),
    "diverse": ("#009E73", "^"),
    "farthest": ("#CC79A7", "D"),
    "dp": ("#D55E00", "v"),
    "geoind": ("#0072B2", "P"),
    "gan": ("#56B4E9", "X"),
}
_COLUMNS = 8  # of the legend
_COMBINED = (("#882255", "<"), ("#117733", ">"), ("#332288", "h"), ("#AA4499", "d"))


@dataclass(frozen=True)
class Spread:
    """A configuration over its seeds: the price in dB, and what an attack was left with.

    ``family`` are its steps without their settings, ``scheme`` is what they were added to.
    """

    family: str
    scheme: str
    rmse_db: tuple[float, ...]
    hidden: tuple[float, ...]


def draw_tradeoff(
    rows: Sequence[Mapping[str, Any]], figure_name: str, label: str, title: str
) -> Figure:
    """RMSE against one figure of the rows that trials give, such as ``emd_paper``.

    A mark is at the medians over the seeds, its cross reaches from the least to the most; up is
    private, left is useful.
    """
    attacks = list(dict.fromkeys(row["attack"] for row in rows))
    figure = fitted_sheet((10.5, 4.0 * ((len(attacks) + 1) // 2)))
    panels = figure.subplots((len(attacks) + 1) // 2, 2, sharex=True, sharey=True, squeeze=False)
    looks = _looks([row["configuration"] for row in rows])
    for axes, attack in zip(panels.flat, attacks, strict=False):
        _draw_panel(axes, spreads(rows, attack, figure_name), looks)
        axes.set_title(attack, fontsize=10)
        axes.grid(color="#dddddd", linewidth=0.6)
    for axes in panels.flat[len(attacks) :]:
        axes.set_axis_off()
    for axes in panels[-1]:
        axes.set_xlabel("RMSE of the map on the test data, dB", fontsize=9)
    figure.supylabel(label, fontsize=9)
    # Of all panels: an attack may lack the figure under a defence.
    drawn = [axes.get_legend_handles_labels() for axes in panels.flat]
    named = {label: handle for both in drawn for handle, label in zip(*both, strict=True)}
    columns = min(len(named), _COLUMNS) or 1
    figure.legend(
        named.values(), named.keys(), loc="outside lower center", ncols=columns, fontsize=8
    )
    figure.suptitle(as_written(title), fontsize=11)
    return figure


def spreads(rows: Sequence[Mapping[str, Any]], attack: str, figure_name: str) -> list[Spread]:
    """One per configuration that has the figure in most runs; in the others it is infinite."""
    own = [row for row in rows if row["attack"] == attack]
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in own:
        found.setdefault(row["configuration"], []).append(row)
    return [
        Spread(
            family_of(name),
            scheme_of(name),
            tuple(row["rmse_db"] for row in runs),
            tuple(inf if row[figure_name] is None else row[figure_name] for row in runs),
        )
        for name, runs in found.items()
        if 2 * sum(row[figure_name] is None for row in runs) < len(runs)
    ]


def family_of(configuration: str) -> str:
    """The steps without their settings: ``diverse`` of ``fedavg + diverse:eps_m=50``."""
    _, *steps = configuration.split(JOINED_BY)
    return JOINED_BY.join(step.partition(":")[0] for step in steps) or PLAIN


def scheme_of(configuration: str) -> str:
    """``fedsgd`` of ``fedsgd:learning_rate=0.001 + centre``."""
    return configuration.partition(JOINED_BY)[0].partition(":")[0]


def _looks(configurations: Sequence[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Colour, marker and label by scheme and family; a second scheme has hollow markers."""
    schemes = list(dict.fromkeys(map(scheme_of, configurations)))
    combined = cycle(_COMBINED)
    styles: dict[str, tuple[str, str]] = {}
    for family in map(family_of, configurations):
        if family not in styles:
            styles[family] = _STYLES.get(family) or next(combined)
    return {
        (scheme, family): {
            "color": colour,
            "marker": marker,
            "markerfacecolor": colour if scheme == schemes[0] else "white",
            "markersize": 11 if family == PLAIN else 6,
            "label": family if scheme == schemes[0] else f"{family} ({scheme})",
        }
        for scheme in schemes
        for family, (colour, marker) in styles.items()
    }


def _draw_panel(
    axes: Axes,
    configurations: Sequence[Spread],
    looks: Mapping[tuple[str, str], Mapping[str, Any]],
) -> None:
    for kind in dict.fromkeys((each.scheme, each.family) for each in configurations):
        own = sorted(
            (each for each in configurations if (each.scheme, each.family) == kind),
            key=lambda each: float(np.median(each.rmse_db)),
        )
        axes.errorbar(
            [np.median(each.rmse_db) for each in own],
            [np.median(each.hidden) for each in own],
            xerr=np.transpose([_reach(each.rmse_db) for each in own]),
            yerr=np.transpose([_reach(each.hidden) for each in own]),
            linewidth=1.2,
            elinewidth=0.7,
            **looks[kind],
        )


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """From the median down and up, as far as anything is known."""
    middle = float(np.median(values))
    return middle - min(values), max(each for each in values if isfinite(each)) - middle
