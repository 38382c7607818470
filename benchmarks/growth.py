"""Time and memory over the number of measurements, of users and of rounds.

    python benchmarks/growth.py

Each point is a fresh process that reads Parquet, prepares the rounds, trains with an evaluation
after every round, and attacks one user by ``search`` in every round (``growth_path.py``); the
updates of that user alone are kept. People have 50 places each, all under one cell.

* measurements: 100 users and 10 rounds; B = inf and E = 1, so that training is one pass.
* users: 25 measurements each, one round, B = 20, E = 5.
* rounds: 7 users with 25 measurements in each, B = 20, E = 5.
* the demand: 10,000 users and 10 rounds.

``slope`` is that of the logarithms between the last two points, of CPU-seconds, which other work on
the machine hardly moves, and of the peak: 1 is linear, 2 quadratic.
"""

import json
import sys
import tempfile
from math import log
from pathlib import Path

import numpy as np
import polars as pl
from command import main
from table import duration, note, show_table
from timing import process

STAGES = ("read", "prepare", "train", "attack")
PLACES, DAY_US = 50, 86_400_000_000
ONE_PASS = {"map": "network", "batch_size": "inf", "epochs": 1}
FEDAVG = {"map": "network", "batch_size": 20, "epochs": 5}
SIZES = {
    "full": {
        "measurements": (10**4, 10**5, 10**6, 10**7),
        "users": (7, 100, 1000, 10_000),
        "rounds": (1, 10, 100, 1000),
    },
    "quick": {"measurements": (10**4,), "users": (7, 100), "rounds": (1, 10)},
}
# Bursts would be one per user where many measurements lie close; rows at random always split.
COMMON = {"interval": "1d", "split": "random", "learning_rate": 1e-5}


def measure(quick: bool) -> dict:
    """By what grows, the points; and the demand, in the full form."""
    counts = SIZES["quick" if quick else "full"]
    sizes = {
        "measurements": [(100, 10, n // 1000, ONE_PASS) for n in counts["measurements"]],
        "users": [(n, 1, 25, FEDAVG) for n in counts["users"]],
        "rounds": [(7, n, 25, FEDAVG) for n in counts["rounds"]],
    }
    found = {name: {"points": [_point(*each) for each in points]} for name, points in sizes.items()}
    for name, each in found.items():
        each["slope"] = _slopes(name, each["points"])
    if not quick:
        found["demand"] = {"points": [_point(10_000, 10, 25, FEDAVG)]}
    return found


def _point(users: int, rounds: int, each: int, training: dict) -> dict:
    """Seconds and peaks of the path over so many users, with ``each`` measurements a round."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "world.parquet"
        write_world(file, users, rounds, each)
        path = Path(__file__).with_name("growth_path.py")
        ran = process([sys.executable, str(path), str(file), json.dumps(COMMON | training)])
        size_mb = file.stat().st_size / 1e6
    whole = {name: ran[name] for name in ("seconds", "cpu_s", "peak_mb")}
    return json.loads(ran["output"]) | whole | {"file_mb": size_mb}


def write_world(file: Path, users: int, rounds: int, each: int) -> None:
    """Everybody measures so many times a day, at any of their places."""
    draw, rows = np.random.default_rng(0), users * rounds * each
    places = draw.uniform(-1, 1, (users, PLACES, 2))
    user = np.tile(np.repeat(np.arange(users, dtype=np.int32), each), rounds)
    place = places[user, draw.integers(0, PLACES, rows)]
    # To the microsecond, so that no row is the duplicate of another.
    of_day_us = draw.integers(0, DAY_US, rows)
    time_us = np.repeat(np.arange(rounds) * DAY_US, users * each) + of_day_us
    moment = np.datetime64("2024-01-01T00:00:00", "us") + time_us.astype("timedelta64[us]")
    pl.DataFrame(
        {
            "user": user,
            "time": moment,
            "lat_deg": 51.5 + 0.005 * place[:, 0],
            "lon_deg": -0.1 + 0.007 * place[:, 1],
            "rsrp_dbm": draw.normal(-96, 5, rows).round(1),
            "accuracy_m": draw.uniform(5, 50, rows).round(1),
        }
    ).with_columns(
        pl.col("user").cast(pl.String),
        pl.col("time").dt.replace_time_zone("UTC"),
        cell=pl.lit("a"),
    ).write_parquet(file)


def _slopes(name: str, points: list[dict]) -> dict:
    """Between the last two points, of the whole path, of each stage and of the peak."""
    if len(points) < 2:
        return {}
    first, last = points[-2:]
    decade = log(last[name] / first[name])
    stages = {
        each: tuple(point["stages"][each]["cpu_s"] for point in (first, last)) for each in STAGES
    }
    pairs = stages | {
        "whole": (sum(a for a, _ in stages.values()), sum(b for _, b in stages.values())),
        "memory": (first["peak_mb"], last["peak_mb"]),
    }
    return {each: log(after / before) / decade for each, (before, after) in pairs.items()}


def _seconds(point: dict, stage: str) -> float:
    return point["stages"][stage]["seconds"]


def show(figures: dict) -> None:
    """A table for each thing that grows."""
    for name, found in figures.items():
        columns = ("points", "users", "rounds", *STAGES, "peak, MB")
        show_table(_title(name), columns, map(_row, found["points"]), left=0)
        if found.get("slope"):
            slopes = ", ".join(f"{each} {slope:.2f}" for each, slope in found["slope"].items())
            note(f"slopes between the last two: {slopes}")


def _title(name: str) -> str:
    return "the demand" if name == "demand" else f"over {name}"


def _row(point: dict) -> tuple:
    return (
        *(f"{point[each]:,}" for each in ("measurements", "users", "rounds")),
        *(duration(_seconds(point, stage)) for stage in STAGES),
        f"{point['peak_mb']:,.0f}",
    )


if __name__ == "__main__":
    main(measure, show)
