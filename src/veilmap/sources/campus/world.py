"""The parameters of the simulated campus, and where each default comes from."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import Checked, UserError, out_of_range

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Flags = NDArray[np.bool_]

# Steps of the R2 sequence (Roberts, 2018), which fills a square evenly for any number of points.
EVENLY = np.array([0.7548776662466927, 0.5698402909980532])


def _within(least: float, most: float) -> dict[str, tuple[float, float]]:
    """Beyond this range a world is meaningless or too large for memory; integers stay integers."""
    return {"range": (least, most)}


@dataclass(frozen=True)
class Campus(Checked):
    """The world; docs/campus.md lists which defaults are published and which are fitted.

    Attributes:
        users: number of people, with one phone each.
        days: duration of the study, in days.
        presence_days: most days that one person takes part, in one stretch.
        cells: number of cell towers (sectors) of both providers together.
        width_m: width of the campus, east-west, in metres.
        height_m: height of the campus, north-south, in metres.
        logged_days: share of the first person's days with a running logger; others log less.
        points_per_hour: rows per hour of a resting phone by day while the logger runs.
        burst_points: mean number of rows of a burst; a burst has one fix.
        fix_minutes: how long a resting phone keeps one fix by day, in minutes.
        fix_spread_m: error of a Wi-Fi fix, in metres.
        mean_dbm: RSRP of the first person in its densest cell; sets the power of all cells.
        shadowing_db: standard deviation of the shadowing.
        shadowing_length_m: distance at which its correlation falls to 1/e, in metres.
        fading_looks: number of independent looks averaged in one reading; more looks fade less.
        drift_db: standard deviation of a cell's drift over the weeks.
    """

    users: int = field(default=7, metadata=_within(1, 1_000_000))
    days: int = field(default=120, metadata=_within(1, 3650))
    presence_days: int = field(default=77, metadata=_within(1, 3650))
    cells: int = field(default=25, metadata=_within(2, 3000))
    width_m: float = field(default=1900.0, metadata=_within(500.0, 20_000.0))
    height_m: float = field(default=1580.0, metadata=_within(500.0, 20_000.0))
    logged_days: float = field(default=0.61, metadata=_within(0.0, 1.0))
    # A phone has one row in a second.
    points_per_hour: float = field(default=122.0, metadata=_within(0.0, 3600.0))
    burst_points: float = field(default=8.0, metadata=_within(1.0, 1000.0))
    fix_minutes: float = field(default=9.0, metadata=_within(1.0, 1440.0))
    fix_spread_m: float = field(default=15.0, metadata=_within(0.0, 500.0))
    mean_dbm: float = field(default=-96.0, metadata=_within(-130.0, -54.0))
    shadowing_db: float = field(default=4.0, metadata=_within(0.0, 30.0))
    shadowing_length_m: float = field(default=37.0, metadata=_within(1.0, 2000.0))
    fading_looks: float = field(default=6.0, metadata=_within(0.5, 1000.0))
    drift_db: float = field(default=1.0, metadata=_within(0.0, 30.0))

    def _faults(self) -> Iterator[UserError]:
        for each in fields(self):
            value, (least, most) = getattr(self, each.name), each.metadata["range"]
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if isinstance(least, int) and not is_whole:
                yield out_of_range(each.name, "a whole number", value)
            elif not least <= value <= most:
                yield out_of_range(each.name, f"from {least:,g} to {most:,g}", value)

    @property
    def stretch_days(self) -> int:
        return min(self.presence_days, self.days)

    @property
    def size_m(self) -> Array:
        return np.array([self.width_m, self.height_m])
