"""How similar users' places are: the EMD between them, as a heat map."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.canvas import as_written, fitted_sheet
from veilmap.inspection.labels import shortened, shown_users
from veilmap.measurements import Measurements
from veilmap.metrics.transport import pairwise_emd_m

# A direction every degree, and positions to a thousandth of the area's longer side: a picture
# shows no more, and the time stays bounded however many measurements there are.
_PROJECTIONS = 180
_STEPS = 1000
_SQUARE = 0.62  # inches
_LEAST_SPAN_M = 10.0  # of the colour scale, so that a metre is not visible
_UPRIGHT = 6  # letters that fit below a square


@dataclass(frozen=True)
class Similarity:
    """EMD in metres between the users of one cell (fig:radio_cell_x455_heatmap)."""

    cell: str
    users: tuple[str, ...]
    users_in_all: int
    emd_m: NDArray[np.float64]


def similarity(data: Measurements, most_users: int = 12) -> Similarity:
    """Between the densest users of the densest cell."""
    cell = data.of_cell(None)
    users = cell.users[:most_users]
    sets = [cell.keep(pl.col("user") == user).xy_m for user in users]
    area = Area.around(cell.xy_m)
    step_m = max(area.width_m, area.height_m, 1.0) / _STEPS
    rounded = [np.round((xy_m - area.centre_m) / step_m) * step_m for xy_m in sets]
    table_m = pairwise_emd_m(rounded, _PROJECTIONS)
    return Similarity(data.cells[0], tuple(users), len(cell.users), table_m)


def draw_similarity(found: Similarity) -> Figure:
    """Dark squares are users who go to the same places."""
    side = _SQUARE * max(len(found.users), 4)
    figure = fitted_sheet((side + 2.6, side + 1.8))
    axes = figure.add_subplot()
    highest_m = max(float(found.emd_m.max()), _LEAST_SPAN_M)
    image = axes.imshow(found.emd_m, cmap="cividis", vmin=0, vmax=highest_m)
    for (row, column), emd_m in np.ndenumerate(found.emd_m):
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
    whom = shown_users(len(found.users), found.users_in_all)
    heading = f"cell {as_written(shortened(found.cell))}, {whom}; dark: alike"
    figure.suptitle(f"How far apart users' places are\n{heading}", fontsize=11)
    return figure
