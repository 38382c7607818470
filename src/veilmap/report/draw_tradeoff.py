"""What a defence hides against what it costs: one panel per attack, one line per defence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
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
_COMBINED = (("#882255", "<"), ("#117733", ">"), ("#332288", "h"), ("#AA4499", "d"))


@dataclass(frozen=True)
class Spread:
    """A configuration over its seeds: the price in dB, and what an attack was left with."""

    family: str
    rmse_db: tuple[float, ...]
    hidden: tuple[float, ...]


def draw_tradeoff(
    rows: Sequence[Mapping[str, Any]], figure_name: str, label: str, title: str
) -> Figure:
    """RMSE against one figure of the rows that trials give, such as ``emd_paper``.

    Crosses reach a standard deviation over the seeds in both directions; up is private, left is
    useful.
    """
    attacks = list(dict.fromkeys(row["attack"] for row in rows))
    figure = fitted_sheet((10.5, 4.0 * ((len(attacks) + 1) // 2)))
    panels = figure.subplots((len(attacks) + 1) // 2, 2, sharex=True, sharey=True, squeeze=False)
    for axes, attack in zip(panels.flat, attacks, strict=False):
        _draw_panel(axes, spreads(rows, attack, figure_name))
        axes.set_title(attack, fontsize=10)
        axes.grid(color="#dddddd", linewidth=0.6)
    for axes in panels.flat[len(attacks) :]:
        axes.set_axis_off()
    for axes in panels[-1]:
        axes.set_xlabel("RMSE of the map on the test data, dB", fontsize=9)
    figure.supylabel(label, fontsize=9)
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8)
    figure.suptitle(as_written(title), fontsize=11)
    return figure


def spreads(rows: Sequence[Mapping[str, Any]], attack: str, figure_name: str) -> list[Spread]:
    """One per configuration that has the figure in any seed."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["attack"] == attack and row[figure_name] is not None:
            found.setdefault(row["configuration"], []).append(row)
    return [
        Spread(
            family_of(name),
            tuple(row["rmse_db"] for row in own),
            tuple(row[figure_name] for row in own),
        )
        for name, own in found.items()
    ]


def family_of(configuration: str) -> str:
    """The steps without their settings: ``diverse`` of ``fedavg + diverse:eps_m=50``."""
    _, *steps = configuration.split(JOINED_BY)
    return JOINED_BY.join(step.partition(":")[0] for step in steps) or PLAIN


def _draw_panel(axes: Axes, configurations: Sequence[Spread]) -> None:
    families = dict.fromkeys(each.family for each in configurations)
    combined = cycle(_COMBINED)
    for family in families:
        own = sorted(
            (each for each in configurations if each.family == family),
            key=lambda each: float(np.mean(each.rmse_db)),
        )
        colour, marker = _STYLES.get(family) or next(combined)
        axes.errorbar(
            [np.mean(each.rmse_db) for each in own],
            [np.mean(each.hidden) for each in own],
            xerr=[_deviation(each.rmse_db) for each in own],
            yerr=[_deviation(each.hidden) for each in own],
            color=colour,
            marker=marker,
            markersize=11 if family == PLAIN else 6,
            linewidth=1.2,
            elinewidth=0.7,
            label=family,
        )


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
