"""Diverse Batch: of each place one point."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from veilmap.defences.clustering.grouping import (
    DECIMALS,
    Groups,
    Indices,
    Noise,
    grouped,
    grouping_faults,
)
from veilmap.defences.step import Figures, Moves, Turn
from veilmap.errors import Checked, UserError, not_among, out_of_range, shown
from veilmap.local_data import LocalData

CentreRule = Literal["nearest", "mean"]


@dataclass(frozen=True)
class DiverseBatch(Checked):
    """Keep the centre point of each DBSCAN cluster of the round ("FedAvg with Diverse Batch").

    Few points far apart: their variance is high, which Theorem 1 turns into a large error of the
    attack, and a home of a thousand measurements counts no more than a crossing passed once.

    Where the paper is silent: with ``min_points`` 1 there is no noise, and the clusters of a week
    come to the paper's own numbers on the simulated campus (docs/campus.md). The point nearest to
    the mean is a measurement, so a batch is a subset of the round's points as the paper demands.

    Attributes:
        eps_m: eps, in metres (the paper gives km); neighbours in a cluster are at most this apart.
        size: how many points to keep. None runs DBSCAN once, as the paper does (data minimisation).
            A number takes the centres out and repeats on the rest until there are so many, its
            step 4; fewer if a pass finds no cluster any more. A pass with more clusters than are
            still wanted takes those of most points, of equals the first. A round of fewer points
            is kept whole, which hides nothing.
        centre: "nearest", the measurement nearest to the cluster's mean position, of equals the
            earliest; or "mean", the means of position, signal and time, which were never measured.
        min_points: from how many neighbours on, itself counted, a point is a core point.
        noise: with ``min_points`` above 1, "keep" each noise point as a cluster of its own, "drop"
            it, or "group" all of it into one cluster.
    """

    eps_m: float = 50.0
    size: int | None = None
    centre: CentreRule = "nearest"
    min_points: int = 1
    noise: Noise = "keep"
    name = "diverse"
    looks_at = "positions"

    @property
    def moves(self) -> Moves:
        """Of a cluster it may also leave the mean."""
        return "by rule" if self.centre == "mean" else "nothing"

    @property
    def fixed_size(self) -> int | None:
        """A round of no more points is kept whole."""
        return self.size

    def on_points(self, batch: LocalData, turn: Turn) -> tuple[LocalData, Figures]:
        """The centres in time order; clusters and noise are those of the first pass."""
        groups = self._grouped(batch)
        if self.size is None:
            return _centres(batch, groups, self.centre), groups.figures
        chosen = self._repeated(batch, groups, self.size)
        return batch.take(chosen), {**groups.figures, "asked": self.size}

    def _grouped(self, batch: LocalData) -> Groups:
        return grouped(batch.xy_m, self.eps_m, self.min_points, self.noise)

    def _repeated(self, batch: LocalData, groups: Groups, size: int) -> Indices:
        if self.noise != "drop" and size >= len(batch):
            return np.arange(len(batch))
        left, chosen = np.arange(len(batch)), np.array([], np.int64)
        while groups.count and len(chosen) < size:
            largest_first = np.argsort(-groups.sizes, kind="stable")
            centres = _nearest(batch.take(left), groups)[largest_first[: size - len(chosen)]]
            chosen, left = np.append(chosen, left[centres]), np.delete(left, centres)
            groups = self._grouped(batch.take(left))
        return np.sort(chosen)

    def _faults(self) -> Iterator[UserError]:
        yield from grouping_faults(self.eps_m, self.min_points, self.noise)
        if self.size is not None and not (isinstance(self.size, int) and self.size >= 1):
            yield out_of_range("size", "a whole number of at least 1, or None", self.size)
        yield from not_among("centre", self.centre, get_args(CentreRule))
        if self.centre == "mean" and self.size is not None:
            yield UserError(
                f"size must be None with centre 'mean', got {shown(self.size)}; a mean is not a "
                "measurement that the next pass could leave out: choose centre 'nearest'"
            )


def _nearest(batch: LocalData, groups: Groups) -> Indices:
    """The row of each group's centre."""
    off_m = np.hypot(*(batch.xy_m[groups.rows] - groups.means(batch.xy_m)[groups.group]).T)
    # Rounding of the last bits must not choose between two at the same distance.
    by_distance = np.lexsort((off_m.round(DECIMALS), groups.group))
    _, first = np.unique(groups.group[by_distance], return_index=True)
    return groups.rows[by_distance[first]]


def _centres(batch: LocalData, groups: Groups, centre: CentreRule) -> LocalData:
    """One point of each group, in time order."""
    if centre == "nearest":
        return batch.take(np.sort(_nearest(batch, groups)))
    rsrp_dbm, time_s = (groups.means(each) for each in (batch.rsrp_dbm, batch.time_s))
    means = LocalData(groups.means(batch.xy_m), rsrp_dbm, time_s)
    return means.take(np.argsort(time_s, kind="stable"))
