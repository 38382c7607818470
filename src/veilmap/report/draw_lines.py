"""Figures over one setting or over the rounds: lines of means, side by side in panels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from veilmap.canvas import as_written
from veilmap.errors import Checked, UserError, refuse
from veilmap.report.number_axes import count_axis, figure_axis, name_axis
from veilmap.report.references import Compared, draw_references
from veilmap.report.series import THE_PAPER, Series
from veilmap.report.sheet import (
    COLOURS,
    LABEL,
    MARKERS,
    TITLE,
    legend_below,
    panel_sheet,
    panel_width,
    plain_panel,
    say,
    wrapped,
)

Style = dict[str, Any]  # as matplotlib takes it

_HIGH = 2.5  # a panel with its labels, in inches
_MANY = 20  # more points than this are a curve without marks
# These distinguish curves without marks in grey.
_DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (9, 3)))
_OPEN: Style = {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 1.1}


@dataclass(frozen=True)
class Line(Series):
    """A series: ``values[i]`` are the figures of all seeds at ``x[i]``, none if not known.

    ``paper`` are the paper's own figures at the same places, None where it gives none.
    """

    name: str
    x: tuple[float | str, ...]
    values: tuple[tuple[float, ...], ...]
    paper: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        refuse(self.faults(len(self.x)))
        if not all(np.isfinite(each) for each in self.x if not isinstance(each, str)):
            raise UserError(f"x of line {self.name!r} must be finite, got {self.x}; use a name")


@dataclass(frozen=True)
class LinePanel(Compared, Checked):
    """Lines in one pair of axes; if some x is a name, all x are names, in order of appearance.

    ``reference`` is a figure to compare the lines with, such as that of random guesses.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    reference: float | None = None
    reference_name: str = ""

    def _faults(self) -> Iterator[UserError]:
        x = [each for line in self.lines for each in line.x]
        y = [each for line in self.lines for each in line.figures]
        if self.reference is not None:
            y.append(self.reference)
        for axis, is_log, figures in (("x", self.log_x, x), ("y", self.log_y, y)):
            wrong = [each for each in figures if isinstance(each, str) or each <= 0]
            if is_log and wrong:
                yield UserError(
                    f"the {axis} of panel {self.title!r} must be above 0 on a log scale, got "
                    f"{wrong[0]!r}; leave it out or set log_{axis} = False"
                )
        yield from self.reference_faults()

    @property
    def categories(self) -> tuple[str, ...]:
        """The names along x; empty if x are numbers."""
        x = [each for line in self.lines for each in line.x]
        are_named = any(isinstance(each, str) for each in x)
        return tuple(dict.fromkeys(map(_name, x))) if are_named else ()


def draw_lines(panels: Sequence[LinePanel], title: str) -> Figure:
    """Marks are means over the seeds; bars or bands reach from the least to the most.

    The paper's figures are open marks of the same colour.
    """
    figure, grid = panel_sheet(len(panels), _HIGH, title)
    shown = [line for panel in panels for line in panel.lines if line.is_drawn]
    looks = _looks(shown)
    for axes, panel in zip(grid, panels, strict=True):
        _draw_panel(axes, panel, looks, panel_width(len(panels)))
    legend_below(figure, [*_handles(shown, looks), *draw_references(grid, panels)])
    return figure


def _name(x: float | str) -> str:
    return x if isinstance(x, str) else f"{x:g}"


def _looks(lines: Sequence[Line]) -> dict[str, Style]:
    """Styles by name, so that a series looks the same in all panels."""
    names = dict.fromkeys(line.name for line in lines)
    curves = dict.fromkeys(line.name for line in lines if _is_curve(line))
    dashes = dict(zip(curves, cycle(_DASHES), strict=False))
    return {
        name: {"color": colour, "marker": marker, "linestyle": dashes.get(name, "-")}
        for name, colour, marker in zip(names, cycle(COLOURS), cycle(MARKERS), strict=False)
    }


def _draw_panel(axes: Axes, panel: LinePanel, looks: Mapping[str, Style], wide: float) -> None:
    plain_panel(axes, wrapped(panel.title, wide, TITLE))
    drawn = [line for line in panel.lines if line.is_drawn]
    for line in drawn:
        _draw_line(axes, line, panel.categories, looks[line.name])
    axes.set_xlabel(as_written(wrapped(panel.x_label, wide)), fontsize=LABEL)
    axes.set_ylabel(as_written(wrapped(panel.y_label, _HIGH - 0.7)), fontsize=LABEL)
    if not drawn:
        axes.set_xticks([])
        say(axes, "nothing to show")
        return
    figure_axis(axes.yaxis, log=panel.log_y)
    if panel.categories:
        name_axis(axes, panel.categories, wide)
    else:
        count_axis(axes.xaxis, [each for line in drawn for each in line.x], wide, log=panel.log_x)


def _draw_line(axes: Axes, line: Line, categories: Sequence[str], look: Style) -> None:
    places = _places(line, categories)
    order = np.argsort(places, kind="stable")
    x, y = places[order], line.means[order]
    low, high = (each[order] for each in line.reach)
    if _is_curve(line):
        marked = np.flatnonzero(_stands_alone(y)).tolist()
        axes.plot(x, y, **look, linewidth=1.3, markersize=3, markevery=marked, zorder=2.5)
        axes.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0, zorder=2)
    else:
        axes.plot(x, y, **look | {"linestyle": "-"}, linewidth=1.3, markersize=4.5, zorder=2.5)
        axes.vlines(x, low, high, color=look["color"], linewidth=0.9, zorder=2)
    known = [place for place, each in enumerate(line.paper) if each is not None]
    axes.plot(places[known], line.of_paper, **look | _OPEN, markersize=6.5, zorder=3)


def _places(line: Line, categories: Sequence[str]) -> NDArray[np.float64]:
    if not categories:
        return np.array(line.x, np.float64)
    return np.array([categories.index(_name(each)) for each in line.x], np.float64)


def _is_curve(line: Line) -> bool:
    return sum(map(bool, line.values)) > _MANY


def _stands_alone(y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Known points with no known neighbour: a line would not show them."""
    known = np.concatenate([[False], np.isfinite(y), [False]])
    alone: NDArray[np.bool_] = known[1:-1] & ~known[:-2] & ~known[2:]
    return alone


def _handles(lines: Sequence[Line], looks: Mapping[str, Style]) -> list[Line2D]:
    curves = {line.name: _is_curve(line) for line in reversed(lines)}
    handles = [
        Line2D(
            [], [], label=as_written(name), linewidth=1.3, markersize=4.5,
            **look | ({"marker": ""} if curves[name] else {"linestyle": "-"}),
        )
        for name, look in looks.items()
    ]  # fmt: skip
    if any(line.of_paper for line in lines):
        look: Style = {"color": "0.25", "marker": "o", "markersize": 6.5} | _OPEN
        handles.append(Line2D([], [], label=THE_PAPER, **look))
    return handles
