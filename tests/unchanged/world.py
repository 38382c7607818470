"""The measurements that all runs are on: four users, four weeks, two cells, made of whole numbers.

Drawn from integers alone, so that no library's way to a normal or an exponential decides them.
"""

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

HOURS = 28 * 24
# Home and work of each user, in 1e-5 degrees around the middle.
HOMES = {"ann": (310, -420), "bob": (-280, 150), "eve": (120, 390), "tom": (-90, -340)}
WORKS = {"ann": (-150, 90), "bob": (260, 310), "eve": (-330, -200), "tom": (180, 60)}
EVERY_HOURS = {"ann": 2, "bob": 3, "eve": 3, "tom": 5}


def write_world(path: Path) -> Path:
    """As CSV with the usual names of columns."""
    draw = np.random.default_rng(2024)
    start = datetime(2024, 1, 1, tzinfo=UTC)
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(("user", "cell", "time", "lat", "lon", "rsrp", "accuracy"))
        for user, every in EVERY_HOURS.items():
            for hour in range(0, HOURS, every):
                north, east = _place(user, hour, draw)
                far = round((north**2 + east**2) ** 0.5)
                signal = -78 - far // 18 + int(draw.integers(-4, 5))
                minute = int(draw.integers(0, 60))
                when = start + timedelta(hours=hour, minutes=minute)
                degrees = f"{51.5 + north * 1e-5:.5f}", f"{-0.1 + east * 1e-5:.5f}"
                cell = "b" if hour % 10 == 0 else "a"
                lines.writerow((user, cell, when.isoformat(), *degrees, signal, 10))
    return path


def _place(user: str, hour: int, draw: np.random.Generator) -> tuple[int, int]:
    """At work on weekdays, at home at night, somewhere between them in the evening."""
    day, clock = divmod(hour, 24)
    at_work = day % 7 < 5 and 8 <= clock < 17
    (north, east), width = (WORKS if at_work else HOMES)[user], 15
    if 17 <= clock < 22:
        share = int(draw.integers(0, 101))
        other = WORKS[user]
        north, east = (a + (b - a) * share // 100 for a, b in zip(HOMES[user], other, strict=True))
        width = 60
    return north + int(draw.integers(-width, width + 1)), east + int(
        draw.integers(-width, width + 1)
    )
