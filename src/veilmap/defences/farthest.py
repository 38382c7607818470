"""Farthest Batch: the points of the places that are least like where the phone was."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from veilmap.defences.clustering.grouping import (
    DECIMALS,
    Groups,
    Indices,
    Noise,
    grouped,
    grouping_faults,
)
from veilmap.defences.step import Figures, Turn
from veilmap.errors import Checked, UserError, too_low
from veilmap.local_data import LocalData


@dataclass(frozen=True)
class FarthestBatch(Checked):
    """Keep ``num`` points of the clusters farthest from the round's centroid x̄.

    Algorithm 3, lines 10-11: clusters in decreasing distance of their centroid from that of the
    round, points from the farthest inwards. The attack finds the centroid of what was kept: where
    that is one place (``clusters_kept``), the place itself.

    Where the paper is silent: inside a cluster the earliest points go first; of clusters at the
    same distance the one whose first core point is earlier, noise after them. What was kept is in
    time order again. A round of fewer points is kept whole, which moves no centroid and hides
    nothing: compare the figure ``asked`` with the points kept.

    Attributes:
        eps_m: eps, in metres (the paper gives km).
        num: how many points to keep; 1 is the most private and the least useful.
        min_points: from how many neighbours on, itself counted, a point is a core point.
        noise: with ``min_points`` above 1, "keep" each noise point as a cluster of its own, "drop"
            it, or "group" all of it into one cluster.
    """

    eps_m: float = 50.0
    num: int = 20
    min_points: int = 1
    noise: Noise = "keep"
    name = "farthest"
    looks_at = "positions"
    moves = "nothing"

    @property
    def fixed_size(self) -> int:
        """A round of no more points is kept whole."""
        return self.num

    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, Figures]:
        """The chosen points in time order."""
        groups = grouped(batch.xy_m, self.eps_m, self.min_points, self.noise)
        figures = {**groups.figures, "asked": self.num}
        if groups.count == 0:
            return batch.take(groups.rows), figures
        farthest_first = np.argsort(_ranks(batch, groups)[groups.group], kind="stable")
        chosen = farthest_first[: self.num]
        figures["clusters_kept"] = len(np.unique(groups.group[chosen]))
        return batch.take(np.sort(groups.rows[chosen])), figures

    def _faults(self) -> Iterator[UserError]:
        yield from grouping_faults(self.eps_m, self.min_points, self.noise)
        yield from too_low(1, int, num=self.num)


def _ranks(batch: LocalData, groups: Groups) -> Indices:
    """0 for the farthest cluster, 1 for the next."""
    from_centroid_m = np.hypot(*(groups.means(batch.xy_m) - batch.centroid_m).T)
    # Rounding of the last bits must not choose between two at the same distance.
    order = np.argsort(-from_centroid_m.round(DECIMALS), kind="stable")
    return np.argsort(order)
