"""The parameters of the simulated campus, and where each default comes from."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError, out_of_range, refuse

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Flags = NDArray[np.bool_]

# Steps of the R2 sequence (Roberts, 2018), which fills a square evenly for any number of points.
EVENLY = np.array([0.7548776662466927, 0.5698402909980532])

# Outside these ranges a world is meaningless or too large for memory. Integers stay integers.
LIMITS: dict[str, tuple[float, float]] = {
    "users": (1, 1_000_000),
    "days": (1, 3650),
    "presence_days": (1, 3650),
    "cells": (2, 3000),
    "width_m": (500.0, 20_000.0),
    "height_m": (500.0, 20_000.0),
    "logged_days": (0.0, 1.0),
    "points_per_hour": (0.0, 3600.0),  # a phone has one row in a second
    "burst_points": (1.0, 1000.0),
    "fix_minutes": (1.0, 1440.0),
    "fix_spread_m": (0.0, 500.0),
    "mean_dbm": (-130.0, -54.0),
    "shadowing_db": (0.0, 30.0),
    "shadowing_length_m": (1.0, 2000.0),
    "fading_looks": (0.5, 1000.0),
    "drift_db": (0.0, 30.0),
}


@dataclass(frozen=True)
class Campus:
    """The world; docs/campus.md lists which defaults are published and which are fitted.

    Attributes:
        users: people with one phone each.
        days: how long the measuring lasts.
        presence_days: how many of them one person takes part at most, in one stretch.
        cells: cell towers (sectors) of both providers together.
        width_m: of the campus, east-west, in metres.
        height_m: of the campus, north-south, in metres.
        logged_days: share of the first person's days with a running logger; others log less.
        points_per_hour: rows of a resting phone by day while the logger runs.
        burst_points: rows of a burst, on average; a burst has one fix.
        fix_minutes: how long a resting phone keeps one fix by day.
        fix_spread_m: error of a fix from Wi-Fi, in metres.
        mean_dbm: RSRP of the first person in its densest cell; sets the power of all cells.
        shadowing_db: standard deviation of the shadowing.
        shadowing_length_m: distance at which its correlation falls to 1/e, in metres.
        fading_looks: independent looks that one reading averages; more of them fade less.
        drift_db: standard deviation of a cell's drift over the weeks.
    """

    users: int = 7
    days: int = 120
    presence_days: int = 77
    cells: int = 25
    width_m: float = 1900.0
    height_m: float = 1580.0
    logged_days: float = 0.61
    points_per_hour: float = 122.0
    burst_points: float = 8.0
    fix_minutes: float = 9.0
    fix_spread_m: float = 15.0
    mean_dbm: float = -96.0
    shadowing_db: float = 4.0
    shadowing_length_m: float = 37.0
    fading_looks: float = 6.0
    drift_db: float = 1.0

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if isinstance(low, int) and not is_whole:
                yield out_of_range(name, "a whole number", value)
            elif not low <= value <= high:
                yield out_of_range(name, f"from {low:,g} to {high:,g}", value)

    @property
    def stretch_days(self) -> int:
        return min(self.presence_days, self.days)

    @property
    def size_m(self) -> Array:
        return np.array([self.width_m, self.height_m])
