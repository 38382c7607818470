"""The clusters of a round from which a selecting defence chooses, and what becomes of noise."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from veilmap.defences.clustering.dbscan import NOISE, dbscan, number_faults
from veilmap.errors import UserError, not_among

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Noise = Literal["keep", "drop", "group"]

# Of metres: distances that agree so far are equal when they decide who is chosen.
DECIMALS = 6


@dataclass(frozen=True)
class Groups:
    """Some rows of a round, each in one of ``count`` groups.

    Attributes:
        rows: those in a group, in the round's order.
        group: of each of these rows, from 0; none is empty.
        noise_points: how many rows DBSCAN called noise, whatever became of them.
    """

    rows: Indices
    group: Indices
    noise_points: int

    @property
    def count(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    @property
    def figures(self) -> dict[str, float]:
        """Figures for a step's report."""
        return {"clusters": self.count, "noise_points": self.noise_points}

    @property
    def sizes(self) -> Indices:
        return np.bincount(self.group)

    def means(self, values: Floats) -> Floats:
        """The mean of each group; ``values`` has a line per row of the round.

        Summed relative to the first row of a group, so that coordinates of millions of metres lose
        no digits and the mean of two points is exactly in the middle.
        """
        values = values[self.rows]
        first = values[np.unique(self.group, return_index=True)[1]]
        beyond = np.zeros_like(first)
        np.add.at(beyond, self.group, values - first[self.group])
        return (first.T + beyond.T / self.sizes).T


def grouped(xy_m: Floats, eps_m: float, min_points: int, noise: Noise) -> Groups:
    """DBSCAN's clusters, and the noise as ``noise`` says.

    "keep" makes each noise point a group of its own: a place where the phone was once. "drop"
    leaves noise out. "group" makes all of it one group, which is what a loop over the labels of
    scikit-learn does, -1 being one of them; its middle is in no cluster. Without noise, as always
    with ``min_points`` 1, the three are the same.
    """
    label = dbscan(xy_m, eps_m, min_points)
    is_noise = label == NOISE
    group = label.copy()
    group[is_noise] = _NOISE_GROUPS[noise](int(is_noise.sum()), int(label.max(initial=NOISE)) + 1)
    rows = np.flatnonzero(group != NOISE)
    return Groups(rows, group[rows], int(is_noise.sum()))


def grouping_faults(eps_m: float, min_points: int, noise: str) -> Iterator[UserError]:
    """What is wrong with the settings of ``grouped``."""
    yield from number_faults(eps_m, min_points)
    yield from not_among("noise", noise, get_args(Noise))


# Number of noise points, number of clusters → the group of each noise point.
_NOISE_GROUPS: dict[Noise, Callable[[int, int], Indices]] = {
    "keep": lambda points, clusters: clusters + np.arange(points),
    "drop": lambda points, clusters: np.full(points, NOISE),
    "group": lambda points, clusters: np.full(points, clusters),
}
