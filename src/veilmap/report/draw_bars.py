"""Figures of a few setups as grouped bars, in panels side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from veilmap.canvas import as_written
from veilmap.errors import UserError, refuse
from veilmap.report.number_axes import figure_axis
from veilmap.report.over_seeds import (
    THE_PAPER,
    faults,
    has_figures,
    known_of,
    means,
    reference_faults,
)
from veilmap.report.sheet import (
    COLOURS,
    LABEL,
    TICK,
    TITLE,
    legend_below,
    panel_grid,
    panel_sheet,
    panel_width,
    plain_panel,
    reference_handles,
    reference_styles,
    say,
    wrapped,
)

Look = dict[str, Any]  # as matplotlib takes it

_HIGH = 2.5  # a panel of upright bars with its labels, in inches
_LYING, _BETWEEN, _AROUND = 0.13, 0.1, 0.75  # a lying bar, the gap to the next group, the labels
_NAMES = 1.6  # the room for names beside lying bars, in inches
_MOST_LINES = 3  # of a name below upright bars
_GROUP = 0.8  # the part of its place that a group of bars fills
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")  # distinct in grey
_DOT: Look = {
    "linestyle": "", "marker": "o", "markersize": 2.8, "markerfacecolor": "white",
    "markeredgecolor": "black", "markeredgewidth": 0.6,
}  # fmt: skip
_TICK: Look = {"color": "black", "linewidth": 2.0, "solid_capstyle": "butt"}


@dataclass(frozen=True)
class Bar:
    """A series: ``values[i]`` are the figures of all seeds in group i, none if not known.

    ``paper`` are the paper's own figures for the same groups, None where it gives none.
    """

    name: str
    values: tuple[tuple[float, ...], ...]
    paper: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        refuse(faults(self.name, len(self.values), self.values, self.paper))

    @property
    def is_drawn(self) -> bool:
        return has_figures(self.values, self.paper)


@dataclass(frozen=True)
class BarPanel:
    """One bar per group and series; ``reference`` is a figure to compare them with."""

    title: str
    y_label: str
    groups: tuple[str, ...]
    bars: tuple[Bar, ...]
    reference: float | None = None
    reference_name: str = ""

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        for bar in self.bars:
            yield from faults(bar.name, len(self.groups), bar.values, ())
        yield from reference_faults(self.title, self.reference)


def draw_bars(panels: Sequence[BarPanel], title: str) -> Figure:
    """Bars are means over the seeds, dots single seeds.

    The paper's figures are black ticks. The bars lie where names of groups would collide below.
    """
    lying = _must_lie(panels)
    figure, grid = panel_sheet(len(panels), _high(panels) if lying else _HIGH, title)
    shown = [bar for panel in panels for bar in panel.bars if bar.is_drawn]
    looks = _looks(list(dict.fromkeys(bar.name for bar in shown)))
    references = reference_styles(
        [panel.reference_name for panel in panels if panel.reference is not None]
    )
    _, columns = panel_grid(len(panels))
    for place, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
        _draw_panel(axes, panel, looks, panel_width(len(panels)), lying=lying)
        if panel.reference is not None:
            line = axes.axvline if lying else axes.axhline
            line(panel.reference, **references[panel.reference_name], zorder=1.5)
        if lying and place % columns and panel.groups == panels[place - 1].groups:
            axes.tick_params(labelleft=False)
    legend_below(figure, [*_handles(shown, looks), *reference_handles(references)])
    return figure


def _must_lie(panels: Sequence[BarPanel]) -> bool:
    """Whether some names do not fit below upright bars."""
    wide = panel_width(len(panels)) if panels else 0
    for panel in panels:
        slot = 0.95 * wide / max(len(panel.groups), 1)
        for name in panel.groups:
            lines = wrapped(name, slot, TICK).split("\n")
            widest = max(map(len, lines), default=0) * 0.56 * TICK / 72
            if len(lines) > _MOST_LINES or widest > slot:
                return True
    return False


def _high(panels: Sequence[BarPanel]) -> float:
    """The height of a panel with horizontal bars."""
    groups = max(len(panel.groups) for panel in panels)
    series = max(sum(bar.is_drawn for bar in panel.bars) for panel in panels)
    # Names of groups take up to two lines.
    return _AROUND + groups * max(series * _LYING + _BETWEEN, 0.28)


def _looks(names: Sequence[str]) -> dict[str, Look]:
    """Styles by name, so that a series looks the same in all panels."""
    return {
        name: {
            "facecolor": COLOURS[place % len(COLOURS)],
            "hatch": _HATCHES[place % len(_HATCHES)],
            "edgecolor": "white",
            "linewidth": 0.4,
        }
        for place, name in enumerate(names)
    }


def _draw_panel(
    axes: Axes, panel: BarPanel, looks: Mapping[str, Look], wide: float, *, lying: bool
) -> None:
    plain_panel(axes, wrapped(panel.title, wide, TITLE), along="x" if lying else "y")
    drawn = [bar for bar in panel.bars if bar.is_drawn]
    for place, bar in enumerate(drawn):
        _draw_bar(axes, bar, (place, len(drawn)), looks[bar.name], lying=lying)
    _name_groups(axes, panel.groups, wide, lying=lying)
    if lying:
        axes.set_xlabel(as_written(wrapped(panel.y_label, wide)), fontsize=LABEL)
    else:
        axes.set_ylabel(as_written(wrapped(panel.y_label, _HIGH - 0.7)), fontsize=LABEL)
    if not drawn:
        axes.set_xticks([])
        say(axes, "nothing to show")
        return
    figure_axis(axes.xaxis if lying else axes.yaxis, log=False)


def _draw_bar(
    axes: Axes, bar: Bar, place: tuple[int, int], look: Mapping[str, Any], *, lying: bool
) -> None:
    """The positions of the ``place``-th series in each group."""
    index, count = place
    wide = _GROUP / count
    centres = np.arange(len(bar.values)) + (index - (count - 1) / 2) * wide
    known = np.array([bool(seeds) for seeds in bar.values], np.bool_)
    draw = axes.barh if lying else axes.bar
    draw(centres[known], means(bar.values)[known], 0.94 * wide, **look, zorder=2)
    several = [
        (centre, each)
        for centre, seeds in zip(centres, bar.values, strict=True)
        for each in seeds
        if len(seeds) > 1
    ]
    axes.plot(*_turned(several, lying=lying), **_DOT, zorder=3)
    for centre, figure in zip(centres, bar.paper, strict=False):
        if figure is not None:
            ends = [(centre - 0.5 * wide, figure), (centre + 0.5 * wide, figure)]
            axes.plot(*_turned(ends, lying=lying), **_TICK, zorder=3.5)


def _turned(points: Sequence[tuple[float, float]], *, lying: bool) -> Sequence[Sequence[float]]:
    """Positions along the groups and figures, as x and y."""
    along, figures = zip(*points, strict=True) if points else ((), ())
    return (figures, along) if lying else (along, figures)


def _name_groups(axes: Axes, groups: Sequence[str], wide: float, *, lying: bool) -> None:
    room = _NAMES if lying else 0.95 * wide / max(len(groups), 1)
    names = [as_written(wrapped(name, room, TICK)) for name in groups]
    limits = (-0.5, max(len(groups), 1) - 0.5)
    if lying:
        axes.set_yticks(range(len(groups)), names)
        axes.set_ylim(limits[::-1])  # the first on top
        axes.tick_params(axis="y", length=0)
    else:
        axes.set_xticks(range(len(groups)), names)
        axes.set_xlim(limits)
        axes.tick_params(axis="x", length=0)


def _handles(bars: Sequence[Bar], looks: Mapping[str, Look]) -> list[Artist]:
    """Legend entries; none for a single unnamed series."""
    handles: list[Artist] = [
        Patch(label=as_written(name), **look) for name, look in looks.items() if name
    ]
    if any(len(seeds) > 1 for bar in bars for seeds in bar.values):
        handles.append(Line2D([], [], label="single seeds", **_DOT))
    if any(known_of(bar.paper) for bar in bars):
        handles.append(Line2D([], [], label=THE_PAPER, **_TICK))
    return handles
