"""A heat map with a number in every square."""

from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from veilmap.canvas import as_written, fitted_sheet
from veilmap.inspection.labels import shortened, shown_users
from veilmap.inspection.similarity import Similarity

_SQUARE = 0.62  # inches
_LEAST_SPAN_M = 10.0  # of the colour scale, so that a metre is not visible
_UPRIGHT = 6  # letters that fit below a square


def draw_similarity(found: Similarity) -> Figure:
    """Dark squares are users who go to the same places."""
    side = _SQUARE * max(len(found.users), 4)
    figure = fitted_sheet((side + 2.6, side + 1.8))
    axes = figure.add_subplot()
    highest_m = max(float(found.emd_m.max()), _LEAST_SPAN_M)
    image = axes.imshow(found.emd_m, cmap="cividis", vmin=0, vmax=highest_m)
    for (row, column), emd_m in _numbered(found):
        colour = "white" if emd_m < 0.5 * highest_m else "black"
        axes.text(column, row, f"{emd_m:,.0f}", ha="center", va="center", color=colour, fontsize=8)
    names = [as_written(name) for name in found.users]
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(names)), names)
    if max(map(len, names)) > _UPRIGHT:
        axes.tick_params("x", rotation=90)
    axes.set(xlabel="user", ylabel="user")
    axes.tick_params(labelsize=8, length=0)
    bar = figure.colorbar(image, label="EMD in metres", shrink=0.8)
    bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    figure.suptitle(_heading(found), fontsize=11)
    return figure


def _numbered(found: Similarity) -> list[tuple[tuple[int, int], float]]:
    users = range(len(found.users))
    return [((i, j), float(found.emd_m[i, j])) for i in users for j in users]


def _heading(found: Similarity) -> str:
    whom = shown_users(len(found.users), found.users_in_all)
    cell = as_written(shortened(found.cell))
    return f"How far apart users' places are\ncell {cell}, {whom}; dark: alike"
