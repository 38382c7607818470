"""What Flower's simulation engine costs beside the engine in one process.

    python benchmarks/flower.py

Both train the same: rounds in which every client has POINTS points, FedAvg with B = 20 and E = 5
on the paper's network. The weights must agree. Told are seconds on the clock and CPU-seconds, per
round and of the start; a long run pays the start once. Each side runs one round, and then many:
the difference is what rounds cost, and what is left of the one is the start. The CPU-seconds of
Flower are those of this process and of all that descend from it, Ray's among them, which psutil
reads twice a second; of one that ends, at most the last half second is missed.
"""

import logging
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import psutil
from command import main
from joblib import cpu_count
from table import duration, note, show_table, times

from veilmap.federation.trainer import OnThreads
from veilmap.flower.simulation import simulate
from veilmap.measurements import Measurements
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train_prepared

POINTS, REPEATS = 25, 5
KINDS = "s", "cpu_s"
FIRST = datetime(2024, 1, 1, tzinfo=UTC)


def measure(quick: bool) -> dict:
    """By the number of clients."""
    logging.getLogger("flwr").setLevel(logging.ERROR)
    return {str(clients): _of(clients) for clients in ((10,) if quick else (10, 100, 1000))}


def _of(clients: int) -> dict[str, float]:
    """Seconds and CPU-seconds per round and of the start, here and there, and how they compare."""
    # So many that they stand out from the start, whose cost varies by a CPU-second.
    rounds = 1 + max(400 // clients, 4)
    few, many = (
        prepare(make_data(clients, n), RunSettings.of(map="network", interval="1d"))
        for n in (1, rounds)
    )
    # The first run in this process loads compiled code; of later ones there are many.
    _, cold = timed(lambda: in_one_process(few))
    here_few = np.median([timed(lambda: in_one_process(few))[1] for _ in range(REPEATS)], axis=0)
    here = np.median([timed(lambda: in_one_process(many))[1] for _ in range(REPEATS)], axis=0)
    run, _ = timed(lambda: in_one_process(many))
    _, there_few = timed(lambda: simulated(few), with_others=True)
    journal, there = timed(lambda: simulated(many), with_others=True)
    here_round, there_round = (here - here_few) / (rounds - 1), (there - there_few) / (rounds - 1)
    there_start = there_few - there_round
    return {
        "rounds": rounds,
        "here_s": here_round[0],
        "here_cpu_s": here_round[1],
        "there_s": there_round[0],
        "there_cpu_s": there_round[1],
        "ratio": there_round[0] / here_round[0],
        "cpu_ratio": there_round[1] / here_round[1],
        "here_start_cpu_s": max(cold[1] - here_few[1], 0.0),
        "there_start_s": there_start[0],
        "there_start_cpu_s": there_start[1],
        "whole_cpu_ratio": there[1] / (here[1] + max(cold[1] - here_few[1], 0.0)),
        "apart": float(np.abs(journal.weights - run.signal_map.weights).max()),
    }


def in_one_process(prepared):
    return train_prepared(prepared, trainer=OnThreads(cpu_count()))


def simulated(prepared):
    with tempfile.TemporaryDirectory() as folder:
        return simulate(prepared, Path(folder) / "run")


def timed(job, with_others=False):
    """What the job gives, and its seconds and CPU-seconds."""
    others, over = {}, threading.Event()
    watcher = threading.Thread(target=watch, args=(others, over))
    if with_others:
        watcher.start()
    began, cpu_began = time.perf_counter(), time.process_time()
    result = job()
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    over.set()
    if with_others:
        watcher.join()
    return result, np.array([seconds, cpu_seconds + sum(others.values())])


def watch(others, over):
    """The CPU-seconds of every process that descends from this one, as long as it is there."""
    while not over.wait(0.5):
        for process in psutil.Process().children(recursive=True):
            try:
                times = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            others[process.pid, process.create_time()] = times.user + times.system


def make_data(clients: int, rounds: int) -> Measurements:
    """Every client measures POINTS times a day in an area of 1 km, under one cell."""
    draw = np.random.default_rng(0)
    rows = clients * rounds * POINTS
    users = [f"{client:04d}" for client in np.tile(np.arange(clients), rounds * POINTS)]
    day = np.repeat(np.arange(rounds), clients * POINTS)
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


def show(figures: dict) -> None:
    """A row per number of clients."""
    show_table(
        "a round in one process, and through Flower on Ray",
        ("clients", "here", "CPU", "Flower", "CPU", "ratio", "CPU ratio", "with start"),
        (
            (
                f"{int(clients):,}",
                *(duration(each[f"{side}_{kind}"]) for side in ("here", "there") for kind in KINDS),
                times(each["ratio"]),
                times(each["cpu_ratio"]),
                times(each["whole_cpu_ratio"]),
            )
            for clients, each in figures.items()
        ),
    )
    for clients, each in figures.items():
        note(
            f"{int(clients):,} clients: Flower starts in {duration(each['there_start_s'])} and "
            f"{duration(each['there_start_cpu_s'])} of CPU; the last column is of "
            f"{each['rounds']} rounds; the weights agree to {each['apart']:.0e}"
        )


if __name__ == "__main__":
    main(measure, show)
