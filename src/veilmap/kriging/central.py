"""The map that a server could make that holds all measurements: what federated maps aim at."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.kriging.dense import DenseKriging
from veilmap.kriging.groups import mean_positions, medians
from veilmap.kriging.kernel import Vector
from veilmap.kriging.likelihood import fitted_kernel
from veilmap.kriging.observed import Observed
from veilmap.local_data import Round
from veilmap.metrics.map_errors import places

_SIDE_M = 25.0
_MOST_PLACES = 4000  # what a dense factor is made of in about a second


def central_kriging(rounds: Iterable[Round]) -> DenseKriging:
    """Kriging of one median per user, round and place of 25 m, at its mean position.

    Rows that follow each other are no independent measurements, so a user's rows of a round in a
    place count once. Places grow where there would be too many.
    """
    thinned = _Medians.of(rounds)
    side_m = _SIDE_M
    while len(observed := thinned.means(side_m)) > _MOST_PLACES:
        side_m *= 2
    return DenseKriging.of(fitted_kernel(observed), observed)


@dataclass(frozen=True)
class _Medians:
    """One median per user, round and place, at the mean position."""

    xy_m: NDArray[np.float64]
    signal_db: Vector

    @classmethod
    def of(cls, rounds: Iterable[Round]) -> "_Medians":
        xy_m, signal_db = [], []
        for this in rounds:
            for data in this.data.values():
                place = places(data.xy_m, _SIDE_M)
                xy_m.append(mean_positions(data.xy_m, place))
                signal_db.append(medians(data.rsrp_dbm, place))
        return cls(np.concatenate(xy_m), np.concatenate(signal_db))

    def means(self, side_m: float) -> Observed:
        """Of all users and rounds, by place."""
        place = places(self.xy_m, side_m)
        k = np.bincount(place)
        mean_db = np.bincount(place, self.signal_db) / k
        return Observed(mean_positions(self.xy_m, place), mean_db, k.astype(np.float64))
