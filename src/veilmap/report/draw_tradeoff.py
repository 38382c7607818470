"""What a defence hides against what it costs: one line per defence, side by side in panels."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, isfinite
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from veilmap.canvas import as_written, fitted_sheet
from veilmap.errors import UserError
from veilmap.metrics.baselines import GUESS_NAMES
from veilmap.metrics.rows import HasFigures
from veilmap.report.looks import (
    PLAIN,
    defence_looks,
    family_of,
    mark_style,
    scheme_fillings,
    scheme_of,
)
from veilmap.report.mark_labels import Mark, label_marks
from veilmap.report.number_axes import figure_axis
from veilmap.report.references import DASHES
from veilmap.report.sheet import LABEL, WIDTH, head, legend_below, plain_panel
from veilmap.report.strength import strengths

_RUINED = 6  # times the least RMSE
_COLUMNS = 2
_HIGH, _AROUND = 2.7, 0.7  # a panel, and what is around all, in inches

Kind = tuple[str, str]  # the scheme, and the steps of a configuration without their settings
Looks = Mapping[Kind, Mapping[str, Any]]


@dataclass(frozen=True)
class TradeoffPoint:
    """A configuration over its seeds: its RMSE in dB, and what an attack was left with."""

    configuration: str
    rmse_db: tuple[float, ...]
    hidden: tuple[float, ...]

    @property
    def kind(self) -> Kind:
        """What it has its look from."""
        return scheme_of(self.configuration), family_of(self.configuration)

    @property
    def medians(self) -> tuple[float, float]:
        """Of the RMSE and of what is hidden."""
        return float(np.median(self.rmse_db)), float(np.median(self.hidden))


@dataclass(frozen=True)
class TradeoffPanel:
    """RMSE against one figure of the rows, such as ``emd_paper``, under one attack."""

    title: str
    attack: str
    figure_name: str
    label: str


def draw_tradeoff(
    rows: Sequence[HasFigures],
    figure_name: str,
    label: str,
    title: str,
    guesses: Sequence[HasFigures] = (),
) -> Figure:
    """RMSE against one figure of the rows, one panel per attack; ``guesses`` see no message."""
    attacks = dict.fromkeys(str(row.value("attack")) for row in rows)
    panels = [TradeoffPanel(attack, attack, figure_name, label) for attack in attacks]
    return draw_tradeoffs(rows, panels, title, guesses)


def draw_tradeoffs(
    rows: Sequence[HasFigures],
    panels: Sequence[TradeoffPanel],
    title: str,
    guesses: Sequence[HasFigures] = (),
) -> Figure:
    """RMSE against the figure of each panel; those of one figure have the same scale.

    A mark is at the medians over the seeds, its cross reaches from the least to the most; up is
    private, left is useful. Beside a mark is how strong the defence was, where there is room. A
    mark above the line of a guess hides no more than that line.
    """
    if not panels:
        raise UserError(f"there is no trade-off to draw in {title!r}, got no rows; run an attack")
    columns = min(len(panels), _COLUMNS)
    alike = len({panel.figure_name for panel in panels}) == 1
    rows_of_panels = ceil(len(panels) / columns)
    figure = fitted_sheet((WIDTH, _HIGH * rows_of_panels + _AROUND), pad=0.06)
    grid = figure.subplots(rows_of_panels, columns, sharex=True, sharey=alike, squeeze=False)
    looks = _looks([str(row.value("configuration")) for row in rows])
    drawn = [tradeoffs(rows, panel.attack, panel.figure_name) for panel in panels]
    marks = []
    for axes, panel, own in zip(grid.flat, panels, drawn, strict=False):
        marks.append(_draw_panel(axes, own, looks))
        _draw_guesses(axes, guesses, panel.figure_name)
        plain_panel(axes, panel.title, along="both")
        axes.set_ylabel(as_written(panel.label), fontsize=LABEL)
        if alike:
            axes.label_outer()
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes in grid.flat[: len(panels)][-columns:]:  # the last of each column
        axes.set_xlabel("RMSE of the map on the test data, dB", fontsize=LABEL)
        axes.tick_params(labelbottom=True)
    _set_scale(grid.flat[0], drawn)
    _write_legend(figure, grid.flat)
    head(figure, title)
    figure.draw_without_rendering()  # the layout, by which there is room for labels or not
    for axes, labelled in zip(grid.flat, marks, strict=False):
        label_marks(figure, axes, labelled)
    return figure


def _set_scale(axes: Axes, drawn: Sequence[Sequence[TradeoffPoint]]) -> None:
    """One ruined map must not press all others into a corner."""
    rmses_db = [value for own in drawn for point in own for value in point.rmse_db if value > 0]
    if rmses_db and max(rmses_db) > _RUINED * min(rmses_db):
        figure_axis(axes.xaxis, log=True)


def tradeoffs(rows: Sequence[HasFigures], attack: str, figure_name: str) -> list[TradeoffPoint]:
    """One per configuration that has the figure in most runs; in the others it is infinite."""
    found: dict[str, list[tuple[float, float | None]]] = {}
    for row in rows:
        rmse_db = row.figure("rmse_db")
        if row.value("attack") == attack and rmse_db is not None:
            runs = found.setdefault(str(row.value("configuration")), [])
            runs.append((rmse_db, row.figure(figure_name)))
    return [
        TradeoffPoint(
            name,
            tuple(rmse_db for rmse_db, _ in runs),
            tuple(inf if hidden is None else hidden for _, hidden in runs),
        )
        for name, runs in found.items()
        if 2 * sum(hidden is None for _, hidden in runs) < len(runs)
    ]


def _looks(configurations: Sequence[str]) -> Looks:
    """Colour, marker and label by scheme and family; schemes differ in how markers are filled."""
    looks = defence_looks(map(family_of, configurations))
    return {
        (scheme, family): {
            **mark_style(look, filling, is_plain=family == PLAIN),
            "label": family if filling == "full" else f"{family} ({scheme})",
        }
        for scheme, filling in scheme_fillings(configurations).items()
        for family, look in looks.items()
    }


def _draw_panel(axes: Axes, configurations: Sequence[TradeoffPoint], looks: Looks) -> list[Mark]:
    """Gives the labels of the marks, for which the layout may have room."""
    marks: list[Mark] = []
    for kind, own in _by_kind(configurations).items():
        rmse_db, hidden = np.transpose([each.medians for each in own])
        axes.errorbar(
            rmse_db, hidden, linewidth=1.2, elinewidth=0.7, **looks[kind],
            xerr=np.transpose([_reach(each.rmse_db) for each in own]),
            yerr=np.transpose([_reach(each.hidden) for each in own]),
        )  # fmt: skip
        colour, texts = looks[kind]["color"], strengths([each.configuration for each in own])
        marks += [Mark(*each.medians, text, colour) for each, text in zip(own, texts, strict=True)]
    return marks


def _draw_guesses(axes: Axes, guesses: Sequence[HasFigures], figure_name: str) -> None:
    """A line at each guess's median over all runs."""
    for (name, words), dashes in zip(GUESS_NAMES.items(), DASHES, strict=False):
        values = [each.figure(figure_name) for each in guesses if each.value("attack") == name]
        known = [value for value in values if value is not None]
        if known:
            axes.axhline(
                float(np.median(known)), color="0.25", linewidth=1.0, linestyle=dashes,
                zorder=1.5, label=words,
            )  # fmt: skip


def _by_kind(configurations: Sequence[TradeoffPoint]) -> dict[Kind, list[TradeoffPoint]]:
    """The useful ones first."""
    kinds: dict[Kind, list[TradeoffPoint]] = {}
    for each in sorted(configurations, key=lambda each: each.medians[0]):
        kinds.setdefault(each.kind, []).append(each)
    return kinds


def _write_legend(figure: Figure, panels: Iterable[Axes]) -> None:
    """Of all panels: an attack may lack the figure under a defence."""
    drawn = [axes.get_legend_handles_labels() for axes in panels]
    named = {label: handle for both in drawn for handle, label in zip(*both, strict=True)}
    legend_below(figure, list(named.values()))


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """From the median down and up, as far as anything is known."""
    middle = float(np.median(values))
    return middle - min(values), max(each for each in values if isfinite(each)) - middle
