"""The facts of the world: what is published, and the numbers that follow.

Published, for London 2017 and its densest cell x455: 64,302 measurements in 8.5 months, from 1,351
upload files (about 3,500 with the other cells), over about 5,167 km²; 16 measurements per 2 h of
logging; 933 candidates at Z = 1 mile; users 1-5 are kept, the other 1,059 files are user 0; the
target, user 3, has the most measurements of the five, in 26 weekly batches; batches hold about 50
on average and mostly fewer; users 1-4 are alike, around Luton, user 5 and the background are not;
random points in the target's area score 34, a sliced W1 of 34² = 1,156 m.

What follows:

- Files of users 1-5: 1,351 - 1,059 = 292. Contributors of the background: 933 - 5 = 928, so
  1,059 - 928 = 131 of its files are somebody's second or third.
- With 26 weeks for the target and 16 to 22 for the others, 105 user-weeks share 292 files: 2.8 a
  week. At 17 measurements a file (2 h 8 min at 16 per 2 h) a week has 47 on average, most below 50;
  the target has 74 files, about 1,250 measurements.
- The background holds the remaining 64,302 - 292·17 = 59,338, so 56 per file, 7 h of logging. Such
  a mean beside short files asks for a skewed distribution; a logger closes a file at 1,000.
- 8.5 months are 259 days, 37 weeks.

- The trips of users 1-4 cross Luton; their size gives the target's box the score of 34.

Only these facts set the parameters; no result of training or of an attack did. Places, trips,
phones, signal and the other cells are invented.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import Checked, UserError, out_of_range, too_low
from veilmap.geo import EARTH_RADIUS_M, LocalPlane

TOP_CELL = 455
OTHER_CELLS = 48
START = "2017-01-02"  # a Monday
TIMEZONE = "Europe/London"
CENTRE_DEG = (51.62, -0.15)
GROUND = LocalPlane(CENTRE_DEG)
LUTON_DEG = (51.88, -0.42)

PlaceKm = tuple[float, float]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Habit:
    """A repeated trip of one phone; places in km east and north of the middle of Luton.

    ``via_km`` are the bends of the usual way and of two others.
    """

    first_week: int
    weeks: int
    files: int
    start_km: PlaceKm
    end_km: PlaceKm
    via_km: tuple[PlaceKm, PlaceKm, PlaceKm]


HABITS = (
    Habit(1, 21, 58, (2.3, -1.4), (-2.1, 1.4), ((0.9, 1.5), (-1.3, -2.6), (4.0, 4.6))),
    Habit(3, 20, 55, (-1.9, 2.0), (2.0, -1.1), ((0.8, 1.8), (-1.6, -2.3), (4.4, 4.2))),
    Habit(5, 26, 74, (-2.2, 1.7), (2.2, -1.5), ((0.6, 1.6), (-1.4, -2.8), (4.5, 5.0))),
    Habit(8, 22, 61, (1.9, -1.8), (-2.5, 2.0), ((1.1, 1.2), (-1.1, -2.9), (4.8, 4.4))),
    Habit(15, 16, 44, (22.0, -48.0), (26.5, -45.5), ((25.0, -49.5), (21.0, -44.5), (29.0, -49.0))),
)


@dataclass(frozen=True)
class London(Checked):
    """The parameters of the world.

    Attributes:
        files: upload files in all.
        cell_files: those of the densest cell.
        cell_rows: its measurements.
        candidates: the contributors of that cell, the kept users among them.
        habits: the trips of the users that are kept, by first appearance.
        rows_per_user_file: the mean number of measurements in the users' files.
        scan_s: the mean time between two measurements, 2 h / 16.
        days: from the first measurement to the last.
        width_km: of the region, east-west.
        height_km: of the region, north-south.
    """

    files: int = 3500
    cell_files: int = 1351
    cell_rows: int = 64_302
    candidates: int = 933
    habits: tuple[Habit, ...] = HABITS
    rows_per_user_file: int = 17
    scan_s: float = 450.0
    days: int = 259
    width_km: float = 64.0
    height_km: float = 80.73

    def degrees(self, xy_m: Floats) -> tuple[Floats, Floats]:
        """Latitude and longitude, reflected at the edges, so that trips stay in the region."""
        lat_deg, lon_deg = GROUND.degrees(xy_m)
        middle_lat, middle_lon = CENTRE_DEG
        half_lat = np.degrees(500 * self.height_km / EARTH_RADIUS_M)
        half_lon = np.degrees(500 * self.width_km / EARTH_RADIUS_M) / np.cos(np.radians(middle_lat))
        return (
            middle_lat + _reflected(lat_deg - middle_lat, half_lat),
            middle_lon + _reflected(lon_deg - middle_lon, half_lon),
        )

    @property
    def user_files(self) -> int:
        return sum(habit.files for habit in self.habits)

    @property
    def background_files(self) -> int:
        return self.cell_files - self.user_files

    @property
    def background_rows(self) -> int:
        return self.cell_rows - self.rows_per_user_file * self.user_files

    def _faults(self) -> Iterator[UserError]:
        contributors = self.candidates - len(self.habits)
        if self.files < self.cell_files:
            yield out_of_range("files", f"at least cell_files = {self.cell_files}", self.files)
        if not 2 <= contributors <= self.background_files:
            demand = f"at least 2 and at most {self.background_files} more than the habits"
            yield out_of_range("candidates", demand, self.candidates)
        yield from too_low(4, rows_per_user_file=self.rows_per_user_file)
        if not 4 <= self.background_rows / max(self.background_files, 1) <= 70:
            demand = "4 to 70 per background file on average"
            yield out_of_range("cell_rows", demand, self.cell_rows)
        for name in ("scan_s", "width_km", "height_km"):
            if not 10 <= getattr(self, name) <= 1000:
                yield out_of_range(name, "10 to 1000", getattr(self, name))
        for number, habit in enumerate(self.habits, 1):
            yield from self._habit_faults(number, habit)

    def _habit_faults(self, number: int, habit: Habit) -> Iterator[UserError]:
        room = self.days // 7 - habit.first_week
        if habit.first_week < 0 or not 1 <= habit.weeks <= room:
            yield out_of_range(f"weeks of habit {number}", f"1 to {room}", habit.weeks)
        if not habit.weeks <= habit.files <= 7 * habit.weeks:
            demand = f"{habit.weeks} to {7 * habit.weeks}, at most one a day"
            yield out_of_range(f"files of habit {number}", demand, habit.files)


def _reflected(offset: Floats, half: float) -> Floats:
    """Reflect into [-half, half]; points inside are unchanged."""
    return np.abs((offset - half) % (4 * half) - 2 * half) - half
