"""How the measurements of the largest cells are distributed over users and rounds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import NDArray

from veilmap.canvas import as_written, fitted_sheet
from veilmap.inspection.facts import INTERVALS
from veilmap.inspection.labels import short_names, shown_users
from veilmap.measurements import Measurements
from veilmap.rounds import cut, parse_interval

# Okabe and Ito's palette for the colour-blind; durations go from dark to light.
_CELL_COLOURS = ("#0072B2", "#E69F00", "#009E73")
_INTERVAL_COLOURS = ("#08306B", "#2171B5", "#6BAED6", "#BDD7E7")
_ROOM_FOR_LEGEND = 20  # between a panel and its title, in points


Counts = NDArray[np.int64]


@dataclass(frozen=True)
class TopCells:
    """Counts of the largest cells (fig:uci_stats_top_cells).

    Attributes:
        cells: the largest first.
        users: those with most measurements in these cells, the first the densest.
        users_in_all: how many have measured these cells.
        points: of each user (row) in each cell (column).
        rounds: of each user (row) in the first cell, for each duration T (column).
        per_round: for each T, the sizes of all D_t^k of the first cell: one user, one round.
    """

    cells: tuple[str, ...]
    users: tuple[str, ...]
    users_in_all: int
    points: Counts
    rounds: Counts
    per_round: tuple[Counts, ...]
    intervals: tuple[str, ...] = INTERVALS


def top_cells(data: Measurements, most_cells: int = 3, most_users: int = 8) -> TopCells:
    """Count; the durations are those that the paper compares."""
    cells = data.cells[:most_cells]
    inside = data.keep(pl.col("cell").is_in(cells))
    users = inside.users[:most_users]
    counts = inside.table.group_by("user", "cell").len().rows()
    rows = {(user, cell): count for user, cell, count in counts}
    points = [[rows.get((user, cell), 0) for cell in cells] for user in users]
    sizes = _batch_sizes(data.of_cell(cells[0]))
    rounds = [[len(sizes[user][T]) if user in sizes else 0 for T in INTERVALS] for user in users]
    return TopCells(
        cells=tuple(cells),
        users=tuple(users),
        users_in_all=len(inside.users),
        points=np.array(points, np.int64),
        rounds=np.array(rounds, np.int64),
        per_round=tuple(np.concatenate([each[T] for each in sizes.values()]) for T in INTERVALS),
    )


def _batch_sizes(data: Measurements) -> dict[str, dict[str, Counts]]:
    """By user and T: the number of measurements in each round with data, cut as for training."""
    sizes: dict[str, dict[str, Counts]] = {}
    for interval in INTERVALS:
        rounds = cut(data, parse_interval(interval))
        for user in data.users:
            mine = [len(each.data[user]) for each in rounds if user in each.data]
            sizes.setdefault(user, {})[interval] = np.array(mine, np.int64)
    return sizes


def draw_top_cells(found: TopCells) -> Figure:
    """Three panels; the first two have a row per user."""
    figure = fitted_sheet((14, 1.8 + 0.75 * max(len(found.users), 3)))
    by_cell, by_interval, sizes = figure.subplots(1, 3, width_ratios=[1.25, 1.25, 1])
    cells = [f"cell {as_written(name)}" for name in short_names(found.cells)]
    users = [f"user {as_written(name)}" for name in found.users]
    durations = [f"T = {interval}" for interval in found.intervals]
    _bars(by_cell, found.points, users, cells, _CELL_COLOURS)
    _label(by_cell, "Measurements per user", "measurements")
    _bars(by_interval, found.rounds, users, durations, _INTERVAL_COLOURS)
    _label(by_interval, "Rounds with data per user", f"rounds of duration T in {cells[0]}")
    _boxes(sizes, found)
    _label(sizes, "Measurements per user and round", f"duration T of a round in {cells[0]}")
    whom = shown_users(len(found.users), found.users_in_all)
    largest = "The largest cell" if len(cells) == 1 else f"The {len(cells)} largest cells"
    figure.suptitle(f"{largest}, {whom}", fontsize=12)
    return figure


def _bars(
    axes: Axes, counts: Counts, rows: list[str], groups: list[str], colours: Sequence[str]
) -> None:
    thick = 0.84 / len(groups)
    for index, (group, colour) in enumerate(zip(groups, colours, strict=False)):
        middle = np.arange(len(rows)) + (index - (len(groups) - 1) / 2) * thick
        bars = axes.barh(middle, counts[:, index], thick * 0.92, color=colour, label=group)
        axes.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=7)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(max(len(rows), 3) - 0.5, -0.5)
    axes.set_xlim(0, max(int(counts.max()), 1) * 1.15)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.legend(
        fontsize=8, frameon=False, ncols=len(groups), loc="lower center", bbox_to_anchor=(0.5, 1.0),
        columnspacing=1.0, handlelength=1.2,
    )  # fmt: skip


def _boxes(axes: Axes, found: TopCells) -> None:
    boxes = axes.boxplot(
        list(found.per_round),
        whis=(0, 100),
        widths=0.55,
        patch_artist=True,
        tick_labels=list(found.intervals),
        medianprops={"color": "black", "linewidth": 1.5},
    )
    for box, colour in zip(boxes["boxes"], _INTERVAL_COLOURS, strict=True):
        box.set(facecolor=colour, alpha=0.8)
    for place, values in enumerate(found.per_round, 1):
        axes.text(place + 0.32, float(np.median(values)), f"{np.median(values):,.0f}",
                  fontsize=8, va="center")  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(*decades_around(np.concatenate(found.per_round)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlim(0.5, len(found.per_round) + 0.8)
    meaning = "box: middle half, number: median, whiskers: all"
    axes.text(0.5, 1.015, meaning, transform=axes.transAxes, fontsize=8, ha="center", va="bottom")
    axes.set_ylabel("measurements (log scale)", fontsize=9)


def decades_around(sizes: Counts) -> tuple[float, float]:
    """Extend a log axis just beyond a power of ten on either side: only these have labels."""
    low, high = np.floor(np.log10(sizes.min())), np.ceil(np.log10(sizes.max()))
    return float(0.7 * 10**low), float(1.4 * 10 ** max(high, low + 1))


def _label(axes: Axes, title: str, below: str) -> None:
    axes.set_title(title, fontsize=10, pad=_ROOM_FOR_LEGEND)
    axes.set_xlabel(below, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8)
