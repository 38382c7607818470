"""How the measurements of the largest cells are distributed over users and rounds."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.inspection.facts import INTERVALS
from veilmap.measurements import Measurements
from veilmap.rounds import cut, parse_interval


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
    points: NDArray[np.int64]
    rounds: NDArray[np.int64]
    per_round: tuple[NDArray[np.int64], ...]
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


def _batch_sizes(data: Measurements) -> dict[str, dict[str, NDArray[np.int64]]]:
    """By user and T: the number of measurements in each round with data, cut as for training."""
    sizes: dict[str, dict[str, NDArray[np.int64]]] = {}
    for interval in INTERVALS:
        rounds = cut(data, parse_interval(interval))
        for user in data.users:
            mine = [len(each.data[user]) for each in rounds if user in each.data]
            sizes.setdefault(user, {})[interval] = np.array(mine, np.int64)
    return sizes
