"""What Flower's simulation engine costs beside the engine in one process.

    python benchmarks/flower.py [10 100 1000]

Both train the same: ROUNDS rounds in which every client has POINTS points, FedAvg with B = 20 and
E = 5 on the paper's network. The weights must agree. Of the simulation the start of Ray is told
apart, since a long run pays it once.
"""

import logging
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl

from veilmap.flower.simulation import simulate
from veilmap.measurements import Measurements
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train_prepared

ROUNDS, POINTS = 3, 25
FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def main(counts: list[int]) -> None:
    logging.getLogger("flwr").setLevel(logging.ERROR)
    print("clients   in one process     Flower on Ray     ratio   start of Ray   same weights")
    for clients in counts:
        prepared = prepare(make_data(clients), RunSettings.of(interval="1d"))
        began = time.perf_counter()
        run = train_prepared(prepared)
        here_s = (time.perf_counter() - began) / ROUNDS
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            journal = simulate(prepared, Path(folder) / "run")
            whole_s = time.perf_counter() - began
        there_s = sum(outcome.seconds for outcome in journal.history) / ROUNDS
        apart = np.abs(journal.weights - run.signal_map.weights).max()
        rounds = f"{here_s:8.3f} s/round   {there_s:8.3f} s/round   {there_s / here_s:6.1f}"
        start_s = whole_s - ROUNDS * there_s
        print(f"{clients:7,d}   {rounds}   {start_s:8.1f} s     to {apart:.0e}", flush=True)


def make_data(clients: int) -> Measurements:
    """Every client measures POINTS times a day in an area of 1 km, under one cell."""
    draw = np.random.default_rng(0)
    rows = clients * ROUNDS * POINTS
    users = [f"{client:04d}" for client in np.tile(np.arange(clients), ROUNDS * POINTS)]
    day = np.repeat(np.arange(ROUNDS), clients * POINTS)
    seconds = draw.integers(0, 86_400, rows) + 86_400 * day
    return Measurements.of(
        pl.DataFrame(
            {
                "user": users,
                "cell": ["a"] * rows,
                "time": [FIRST + timedelta(seconds=int(each)) for each in seconds],
                "lat_deg": 51.5 + draw.uniform(-0.005, 0.005, rows),
                "lon_deg": -0.1 + draw.uniform(-0.007, 0.007, rows),
                "rsrp_dbm": draw.normal(-96, 5, rows).round(),
                "accuracy_m": draw.uniform(5, 50, rows),
            },
            schema_overrides={"time": pl.Datetime("us", "UTC")},
        )
    )


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]] or [10, 100, 1000])
