"""The upload files: owner, length and time of each."""

from dataclasses import dataclass

import numpy as np

from veilmap.sources.london.world import OTHER_CELLS, TOP_CELL, Floats, Habit, Integers, London
from veilmap.streams import stream

DAY_S = 86_400
OTHER_ROWS = 8  # mean number in the files of other cells


@dataclass(frozen=True)
class Logs:
    """One entry per file. Contributors number from 0: the users, the background, the others."""

    contributor: Integers
    cell: Integers
    rows: Integers
    start_s: Integers
    duration_s: Integers

    def reach_s(self) -> Floats:
        """Per contributor the duration of the shortest file: how long a usual trip can be."""
        reach = np.full(self.contributor.max() + 1, np.inf)
        np.minimum.at(reach, self.contributor, self.duration_s)
        return reach


def draw_logs(seed: int, world: London) -> Logs:
    """The files of the users, then those of the background, then those of other cells."""
    draw = stream(seed, "london", "logs")
    parts = [make(world, draw) for make in (_user_files, _background_files, _other_files)]
    contributor, cell, rows, start_s = map(np.concatenate, zip(*parts, strict=True))
    duration_s = _durations(world, rows, draw)
    # The world lasts from one background file's first row to another's last.
    first, last = world.user_files, world.user_files + 1
    start_s[first] = 0
    start_s[last] = world.days * DAY_S
    start_s = np.clip(start_s, 0, world.days * DAY_S - duration_s)
    return Logs(contributor, cell, rows, start_s, duration_s)


def _user_files(world: London, draw: np.random.Generator) -> tuple[Integers, ...]:
    files = [habit.files for habit in world.habits]
    contributor = np.repeat(np.arange(len(files)), files)
    total = world.rows_per_user_file * world.user_files
    rows = divide(total, draw.lognormal(0, 0.3, world.user_files), least=4)
    days = [_days(habit, world, draw) for habit in world.habits]
    day = np.concatenate([np.zeros(0, np.int64), *days])
    # From 6 to 16 o'clock, so that a trip ends on its day and a week's trips lie in that week.
    start_s = day * DAY_S + draw.integers(6 * 3600, 16 * 3600, len(day))
    return contributor, np.full(len(day), TOP_CELL), rows, start_s


def _days(habit: Habit, world: London, draw: np.random.Generator) -> Integers:
    """The days with a file: at least one in each active week, no two files on one day."""
    first, weeks = habit.first_week, habit.weeks
    later = draw.choice(np.arange(first + 1, world.days // 7), weeks - 1, replace=False)
    active = np.sort(np.append(later, first))
    days = 7 * active[:, None] + draw.permuted(np.tile(np.arange(7), (weeks, 1)), axis=1)
    # Some weeks are busy, most are not: batches are mostly below their mean.
    busy = np.repeat(draw.lognormal(0, 0.8, weeks), 6)
    more = draw.choice(days[:, 1:].ravel(), habit.files - weeks, replace=False, p=busy / busy.sum())
    return np.sort(np.concatenate([days[:, 0], more]))


def _background_files(world: London, draw: np.random.Generator) -> tuple[Integers, ...]:
    users, files = len(world.habits), world.background_files
    everybody = np.arange(users, world.candidates)
    again = draw.choice(everybody, files - len(everybody))
    # With this spread the median is about 30 where the mean is 56; cut off so that the largest
    # stay below 1,000, where a logger closes its file.
    weights = np.minimum(draw.lognormal(0, 1.1, files), 25.0)
    rows = divide(world.background_rows, weights, least=2)
    start_s = _any_time(world, files, draw)
    return np.concatenate([everybody, again]), np.full(files, TOP_CELL), rows, start_s


def _other_files(world: London, draw: np.random.Generator) -> tuple[Integers, ...]:
    files = world.files - world.cell_files
    contributor = world.candidates + np.arange(files)
    cell = draw.integers(TOP_CELL + 1, TOP_CELL + 1 + OTHER_CELLS, files)
    rows = 2 + draw.poisson(OTHER_ROWS - 2, files)
    return contributor, cell, rows, _any_time(world, files, draw)


def _any_time(world: London, files: int, draw: np.random.Generator) -> Integers:
    """Any day, mostly by daylight."""
    hour = 24 * draw.beta(4, 4, files)
    return ((draw.integers(0, world.days, files) + hour / 24) * DAY_S).astype(np.int64)


def _durations(world: London, rows: Integers, draw: np.random.Generator) -> Integers:
    spread = 0.25
    pace = draw.lognormal(-(spread**2) / 2, spread, len(rows))  # its mean is 1
    return np.ceil(rows * world.scan_s * pace).astype(np.int64)


def divide(total: int, weights: Floats, *, least: int) -> Integers:
    """Whole numbers of at least ``least``, in proportion to the weights, that sum to ``total``."""
    spare = total - least * len(weights)
    edges = np.round(np.cumsum(weights) / np.sum(weights) * spare).astype(np.int64)
    return least + np.diff(edges, prepend=0)
