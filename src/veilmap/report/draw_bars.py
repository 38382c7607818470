"""Figures of a few setups as grouped bars, in panels side by side."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from veilmap.canvas import as_written
from veilmap.errors import Checked, UserError, refuse
from veilmap.report.number_axes import figure_axis
from veilmap.report.references import Compared, draw_references
from veilmap.report.series import THE_PAPER, Series
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
    say,
    text_width,
    wrapped,
)

Style = dict[str, Any]  # as matplotlib takes it

_HIGH = 2.5  # a panel of upright bars with its labels, in inches
_LYING, _BETWEEN, _AROUND = 0.13, 0.1, 0.75  # a lying bar, the gap to the next group, the labels
_NAMES = 1.6  # the room for names beside lying bars, in inches
_MOST_LINES = 3  # of a name below upright bars
_GROUP = 0.8  # the part of its place that a group of bars fills
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++")  # distinct in grey
_DOT: Style = {
    "linestyle": "", "marker": "o", "markersize": 2.8, "markerfacecolor": "white",
    "markeredgecolor": "black", "markeredgewidth": 0.6,
}  # fmt: skip
_TICK: Style = {"color": "black", "linewidth": 2.0, "solid_capstyle": "butt"}


@dataclass(frozen=True)
class Bar(Series):
    """A series: ``values[i]`` are the figures of all seeds in group i, none if not known.

    ``paper`` are the paper's own figures for the same groups, None where it gives none.
    """

    name: str
    values: tuple[tuple[float, ...], ...]
    paper: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        refuse(self.faults(len(self.values)))


@dataclass(frozen=True)
class BarPanel(Compared, Checked):
    """One bar per group and series; ``reference`` is a figure to compare them with."""

    title: str
    y_label: str
    groups: tuple[str, ...]
    bars: tuple[Bar, ...]
    reference: float | None = None
    reference_name: str = ""

    def _faults(self) -> Iterator[UserError]:
        for bar in self.bars:
            yield from bar.faults(len(self.groups))
        yield from self.reference_faults()


def draw_bars(panels: Sequence[BarPanel], title: str) -> Figure:
    """Bars are means over the seeds, dots single seeds.

    The paper's figures are black ticks. The bars lie where names of groups would collide below.
    """
    lying = _must_lie(panels)
    figure, grid = panel_sheet(len(panels), _high(panels) if lying else _HIGH, title)
    shown = [bar for panel in panels for bar in panel.bars if bar.is_drawn]
    looks = _looks(dict.fromkeys(bar.name for bar in shown))
    _, columns = panel_grid(len(panels))
    for place, (axes, panel) in enumerate(zip(grid, panels, strict=True)):
        _draw_panel(axes, panel, looks, panel_width(len(panels)), lying=lying)
        if lying and place % columns and panel.groups == panels[place - 1].groups:
            axes.tick_params(labelleft=False)
    references = draw_references(grid, panels, upright=lying)
    legend_below(figure, [*_handles(shown, looks), *references])
    return figure


def _must_lie(panels: Sequence[BarPanel]) -> bool:
    """Whether some names do not fit below upright bars."""
    wide = panel_width(len(panels)) if panels else 0
    for panel in panels:
        slot = 0.95 * wide / max(len(panel.groups), 1)
        for name in panel.groups:
            text = wrapped(name, slot, TICK)
            if text.count("\n") >= _MOST_LINES or text_width(text, TICK) > slot:
                return True
    return False


def _high(panels: Sequence[BarPanel]) -> float:
    """The height of a panel with horizontal bars."""
    groups = max(len(panel.groups) for panel in panels)
    series = max(sum(bar.is_drawn for bar in panel.bars) for panel in panels)
    # Names of groups take up to two lines.
    return _AROUND + groups * max(series * _LYING + _BETWEEN, 0.28)


def _looks(names: Iterable[str]) -> dict[str, Style]:
    """Styles by name, so that a series looks the same in all panels."""
    return {
        name: {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
        for name, colour, hatch in zip(names, cycle(COLOURS), cycle(_HATCHES), strict=False)
    }


def _draw_panel(
    axes: Axes, panel: BarPanel, looks: Mapping[str, Style], wide: float, *, lying: bool
) -> None:
    plain_panel(axes, wrapped(panel.title, wide, TITLE), along="x" if lying else "y")
    drawn = [bar for bar in panel.bars if bar.is_drawn]
    for place, bar in enumerate(drawn):
        _draw_bar(axes, bar, (place, len(drawn)), looks[bar.name], lying=lying)
    _name_groups(axes, panel.groups, wide, lying=lying)
    figures, room = (axes.xaxis, wide) if lying else (axes.yaxis, _HIGH - 0.7)
    figures.set_label_text(as_written(wrapped(panel.y_label, room)), fontsize=LABEL)
    if not drawn:
        axes.set_xticks([])
        say(axes, "nothing to show")
        return
    figure_axis(figures, log=False)


def _draw_bar(axes: Axes, bar: Bar, place: tuple[int, int], look: Style, *, lying: bool) -> None:
    """The positions of the ``place``-th series in each group."""
    index, count = place
    wide = _GROUP / count
    centres = np.arange(len(bar.values)) + (index - (count - 1) / 2) * wide
    known = np.array([bool(seeds) for seeds in bar.values], np.bool_)
    draw = axes.barh if lying else axes.bar
    draw(centres[known], bar.means[known], 0.94 * wide, **look, zorder=2)
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
    axis = axes.yaxis if lying else axes.xaxis
    axis.set_ticks(range(len(groups)), [as_written(wrapped(name, room, TICK)) for name in groups])
    axis.set_tick_params(length=0)
    first, last = -0.5, max(len(groups), 1) - 0.5
    if lying:
        axes.set_ylim(last, first)  # the first on top
    else:
        axes.set_xlim(first, last)


def _handles(bars: Sequence[Bar], looks: Mapping[str, Style]) -> list[Artist]:
    """Legend entries; none for a single unnamed series."""
    handles: list[Artist] = [
        Patch(label=as_written(name), **look) for name, look in looks.items() if name
    ]
    if any(len(seeds) > 1 for bar in bars for seeds in bar.values):
        handles.append(Line2D([], [], label="single seeds", **_DOT))
    if any(bar.of_paper for bar in bars):
        handles.append(Line2D([], [], label=THE_PAPER, **_TICK))
    return handles
