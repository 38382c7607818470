"""How similar users' places are: the EMD between them."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.measurements import Measurements
from veilmap.metrics.transport import pairwise_emd_m

# A direction every degree, and positions to a thousandth of the area's longer side: a picture
# shows no more, and the time stays bounded however many measurements there are.
_PROJECTIONS = 180
_STEPS = 1000


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
