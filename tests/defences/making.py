"""Rounds by hand, and a turn to hand to a step."""

import numpy as np

from tests.conftest import UNIT_SCALER
from veilmap.area import Area
from veilmap.defences.step import Turn
from veilmap.local_data import LocalData

UTM_M = (590_000.0, 4_270_000.0)
EMPTY = LocalData(np.empty((0, 2)), np.empty(0), np.empty(0))


def make_turn(user="u0", round_=3, seed=0) -> Turn:
    return Turn(user, round_, seed, Area(0, 0, 1700, 1700), UNIT_SCALER)


def make_batch(xy_m, shift_m=(0.0, 0.0)) -> LocalData:
    """Row i is measured at second i with -90 - i dBm, so that a row is known by its time."""
    xy_m = np.asarray(xy_m, float).reshape(-1, 2) + shift_m
    rows = np.arange(len(xy_m), dtype=float)
    return LocalData(xy_m, -90 - rows, rows)


def on_a_line(*x_m) -> LocalData:
    """Points east of the origin, far from the equator as UTM has it."""
    return make_batch([(x, 0.0) for x in x_m], UTM_M)


def kept(step, batch, turn=None) -> list[int]:
    """The rows that a selecting step keeps, which are whole rows of the batch in time order."""
    points, _ = step.on_points(batch, turn or make_turn())
    rows = points.time_s.astype(int)
    same = batch.take(rows)
    assert (points.xy_m == same.xy_m).all()
    assert (points.rsrp_dbm == same.rsrp_dbm).all()
    assert (np.diff(rows) > 0).all()
    return rows.tolist()
