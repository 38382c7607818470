"""Made-up steps of the three kinds."""

from dataclasses import dataclass

import numpy as np

from veilmap.area import Area
from veilmap.defences.step import Turn
from veilmap.local_data import LocalData, Scaler

AREA = Area(-500, -500, 500, 500)


def turn(user="a", t=1, seed=0) -> Turn:
    return Turn(user, t, seed, AREA, Scaler.of_area(AREA))


@dataclass(frozen=True)
class First:
    """Keeps the first points."""

    num: int = 1
    name = "first"
    moves = "nothing"

    def on_points(self, batch, turn):
        return batch.take(np.arange(min(self.num, len(batch)))), {"asked": self.num}


@dataclass(frozen=True)
class East:
    """Moves all points."""

    by_m: float = 10.0
    name = "east"

    def on_points(self, batch, turn):
        moved = batch.xy_m + np.array([self.by_m, 0.0])
        return LocalData(moved, batch.rsrp_dbm, batch.time_s), {"moved_m": self.by_m}


@dataclass(frozen=True)
class Twice:
    """Doubles the update, and spends a unit of budget each time."""

    name = "twice"

    def on_update(self, update, turn):
        return 2 * update, {"norm": float(np.linalg.norm(update))}

    def spent(self, turns):
        return {"units": float(len(turns))}


@dataclass(frozen=True)
class Average:
    """Learns the mean position, and puts all points there."""

    learns_from: str = "past"
    name = "average"

    def learn(self, people, turn):
        everything = LocalData.join(list(people.values()))
        return _At(everything.centroid_m), {"learned_from": len(everything)}


@dataclass(frozen=True)
class _At:
    place_m: np.ndarray
    name = "average"

    def on_points(self, batch, turn):
        return LocalData(np.tile(self.place_m, (len(batch), 1)), batch.rsrp_dbm, batch.time_s), {}
