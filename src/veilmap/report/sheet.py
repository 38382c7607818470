"""Panels side by side on a sheet as wide as two columns, with one legend for all below them."""

from collections.abc import Sequence
from math import ceil
from textwrap import wrap

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure

from veilmap.canvas import as_written, fitted_sheet
from veilmap.errors import UserError

WIDTH = 7.16  # of two columns of a paper, in inches; nothing is shrunk in print
LEGEND, TITLE, LABEL, TICK = 8.0, 9.0, 8.0, 7.5  # sizes of letters, in points
# Okabe and Ito's palette for the colour-blind.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
# One more than colours, so that an eighth series differs from the first in its mark.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")

_ALONE = 4.6  # the width of a single panel
_LETTER = 0.56  # the width of a usual letter, in its height
_HANDLE = 0.55  # the width of what stands before a legend's text, in inches


def panel_grid(count: int) -> tuple[int, int]:
    """Rows and columns: up to three panels in a row, four in a square."""
    columns = 2 if count == 4 else min(count, 3)
    return ceil(count / columns), columns


def panel_sheet(count: int, high: float, title: str) -> tuple[Figure, list[Axes]]:
    """Empty panels, each ``high`` inches with its labels."""
    if not count:
        raise UserError(f"there is no panel to draw in {title!r}, got 0; give at least one")
    rows, columns = panel_grid(count)
    wide = WIDTH if columns > 1 else _ALONE
    figure = fitted_sheet((wide, rows * high + (0.65 if title else 0.35)), pad=0.06)
    head(figure, title)
    return figure, panels_of(figure, count)


def panels_of(figure: Figure, count: int) -> list[Axes]:
    """The panels of a figure in their grid; unused places stay empty."""
    grid = figure.subplots(*panel_grid(count), squeeze=False)
    for axes in grid.flat[count:]:
        axes.set_axis_off()
    return list(grid.flat[:count])


def panel_width(count: int) -> float:
    """The approximate width of each panel's drawing in inches, without its labels."""
    _, columns = panel_grid(count)
    return (WIDTH if columns > 1 else _ALONE) / columns - 0.55


def head(figure: Figure, title: str) -> None:
    """Set the title over all panels, on as many lines as it needs."""
    if title:
        wide = figure.get_figwidth()
        figure.suptitle(as_written(wrapped(title, 0.95 * wide, TITLE + 1)), fontsize=TITLE + 1)


def plain_panel(axes: Axes, title: str, along: str = "y") -> None:
    """Style a panel: title, faint grid lines, and no frame on the sides without figures."""
    axes.set_title(as_written(title), fontsize=TITLE)
    axes.grid(axis=along, color="0.9", linewidth=0.8)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=TICK)


def say(axes: Axes, text: str) -> None:
    """Write the reason in place of a missing drawing."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="0.4",
        fontsize=TITLE)  # fmt: skip
    axes.set_yticks([])
    axes.spines[["top", "right"]].set_visible(False)


def legend_below(figure: Figure, handles: Sequence[Artist | Container]) -> None:
    """A legend in as many columns as fit, filled evenly."""
    if not handles:
        return
    widest = max(text_width(str(each.get_label()), LEGEND) for each in handles)
    room = figure.get_figwidth() / (_HANDLE + widest)
    rows = ceil(len(handles) / min(max(int(room), 1), len(handles)))
    figure.legend(
        handles=handles, loc="outside lower center", ncols=ceil(len(handles) / rows),
        fontsize=LEGEND, frameon=False, handlelength=2.2, columnspacing=1.4,
    )  # fmt: skip


def text_width(text: str, size: float) -> float:
    """The approximate width of the longest line in inches."""
    return max(map(len, text.split("\n"))) * _LETTER * size / 72


def wrapped(text: str, inches: float, size: float = LABEL) -> str:
    """Wrap a text to lines of at most this width in inches, about equally long."""
    letters = max(int(inches * 72 / (_LETTER * size)), 4)
    lines = wrap(text, letters, break_long_words=False)
    while letters > 4 and len(wrap(text, letters - 1, break_long_words=False)) <= len(lines):
        letters -= 1
    return "\n".join(wrap(text, letters, break_long_words=False))
