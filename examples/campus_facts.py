"""What the paper says of its campus data, beside the simulated campus and a real file.

    python examples/campus_facts.py                         seeds 0 to 4
    python examples/campus_facts.py --seeds 10
    python examples/campus_facts.py --real chania.csv.gz    one more column, of a real file

Prints the table of docs/campus.md; takes about 5 s per seed. The real column speaks of the file's
densest user in its densest cell.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import polars as pl
from sklearn.ensemble import RandomForestRegressor

from veilmap.defences.clustering.dbscan import dbscan
from veilmap.measurements import Measurements
from veilmap.metrics.transport import emd_paper
from veilmap.rounds import Split, cut, parse_interval
from veilmap.sources.campus import simulate
from veilmap.sources.campus.simulation import DENSEST, SECOND
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading
from veilmap.streams import stream

# Fact → what is published, and the range that the simulated one must be in.
PUBLISHED = {
    "users": ("7", 7, 7),
    "cells": ("25", 25, 25),
    "measurements": ("169,295", 169_295 * 0.98, 169_295 * 1.02),
    "months": ("4", 3.3, 4.3),
    "area, km²": ("about 3", 2.7, 3.3),
    "target's weeks": ("11", 11, 11),
    "measurements in a week": ("3,492", 3492 * 0.9, 3492 * 1.1),
    "in a day": ("817", 817 * 0.85, 817 * 1.15),
    "in 3 hours": ("205", 205 * 0.85, 205 * 1.15),
    "rounds of an hour": ("489", 489 * 0.85, 489 * 1.15),
    "in an hour": ("79", 79 * 0.85, 79 * 1.15),
    "home, km east of the middle": ("at the right edge", 0.5, 0.95),
    "share of the target's points within 300 m of home": ("over-sampled", 0.5, 1.0),
    "share in the western half": ("work, on the left", 0.005, 0.2),
    "clusters of a week, 0.1 m": ("239", 239 * 0.7, 239 * 1.3),
    "1 m": ("180", 180 * 0.7, 180 * 1.3),
    "5 m": ("98", 98 * 0.7, 98 * 1.3),
    "50 m": ("16", 16 * 0.7, 16 * 1.3),
    "mean RSRP of the target, dBm": ("-95.96", -96.5, -95.5),
    "mean RSRP of the cell, dBm": ("-95.98", -97.0, -95.0),
    "RMSE of a constant, dB": ("-", 5.0, 7.0),
    "RMSE of a constant on whole bursts, dB": ("-", 5.0, 7.0),
    "RMSE of a random forest, part of the constant's": ("-", 0.0, 0.6),
    "RMSE of a random forest on whole bursts, part of the constant's": ("-", 0.0, 0.85),
    "EMD of random points": ("21.33", 19.3, 23.3),
    "EMD of the centroids, weeks": ("7.6", 6.0, 7.6),
    "days": ("6.4", 5.0, 6.4),
    "hours": ("5.3", 4.0, 5.3),
}
# Not printed for real people.
OF_PLACES = ("home, km east of the middle", "share in the western half")


@dataclass(frozen=True)
class Target:
    """The target: the densest user of a cell."""

    everything: Measurements
    cell: Measurements
    own: Measurements
    name: str

    @classmethod
    def of(cls, data: Measurements, cell_name: str | None = None) -> "Target":
        cell = data.of_cell(cell_name)
        user = cell.users[0]
        return cls(data, cell, cell.keep(pl.col("user") == user), user)

    def batches(self, interval: str) -> list[np.ndarray]:
        return [each.data[self.name].xy_m for each in cut(self.own, parse_interval(interval))]


def facts(target: Target) -> dict[str, float]:
    """Every fact of ``PUBLISHED``, in its order."""
    found = _sizes(target) | _places(target) | _signal(target) | _distances(target)
    return {fact: found[fact] for fact in PUBLISHED}


def _sizes(target: Target) -> dict[str, float]:
    data, rows = target.everything, len(target.own)
    width_m, height_m = np.ptp(data.xy_m, axis=0)
    rounds = {interval: len(target.batches(interval)) for interval in ("1w", "1d", "3h", "1h")}
    return {
        "users": len(data.users),
        "cells": len(data.cells),
        "measurements": len(data),
        "months": (data.table["time"][-1] - data.first).days / 30.44,
        "area, km²": width_m * height_m / 1e6,
        "target's weeks": rounds["1w"],
        "measurements in a week": rows / rounds["1w"],
        "in a day": rows / rounds["1d"],
        "in 3 hours": rows / rounds["3h"],
        "rounds of an hour": rounds["1h"],
        "in an hour": rows / rounds["1h"],
    }


def _places(target: Target) -> dict[str, float]:
    """Home is the densest square of 100 m; clusters are DBSCAN's with every point in one."""
    xy_m, everywhere = target.own.xy_m, target.everything.xy_m
    middle_m = (everywhere.min(axis=0) + everywhere.max(axis=0)) / 2
    squares, counts = np.unique(xy_m // 100, axis=0, return_counts=True)
    home_m = 100 * squares[counts.argmax()] + 50
    near_home = np.hypot(*(xy_m - home_m).T) < 300
    weeks = target.batches("1w")
    return {
        "home, km east of the middle": (home_m - middle_m)[0] / 1000,
        "share of the target's points within 300 m of home": near_home.mean(),
        "share in the western half": (xy_m[:, 0] < middle_m[0]).mean(),
    } | {
        fact: float(np.mean([_clusters(week, eps_m) for week in weeks]))
        for fact, eps_m in (
            ("clusters of a week, 0.1 m", 0.1),
            ("1 m", 1),
            ("5 m", 5),
            ("50 m", 50),
        )
    }


def _clusters(xy_m: np.ndarray, eps_m: float) -> int:
    return int(dbscan(xy_m, eps_m, min_points=1).max()) + 1


def _signal(target: Target) -> dict[str, float]:
    constant, forest = _errors_db(target.cell, Split(split="random"))
    constant_bursts, forest_bursts = _errors_db(target.cell, Split(split="burst"))
    whose = "part of the constant's"
    return {
        "mean RSRP of the target, dBm": target.own.table["rsrp_dbm"].mean(),
        "mean RSRP of the cell, dBm": target.cell.table["rsrp_dbm"].mean(),
        "RMSE of a constant, dB": constant,
        "RMSE of a constant on whole bursts, dB": constant_bursts,
        f"RMSE of a random forest, {whose}": forest / constant,
        f"RMSE of a random forest on whole bursts, {whose}": forest_bursts / constant_bursts,
    }


def _errors_db(cell: Measurements, split: Split) -> tuple[float, float]:
    train, test = split.apply(cell, seed=0)
    dbm, truth_dbm = train.table["rsrp_dbm"].to_numpy(), test.table["rsrp_dbm"].to_numpy()
    forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0, n_jobs=2)
    predicted_dbm = forest.fit(train.xy_m, dbm).predict(test.xy_m)
    return _rms(truth_dbm - dbm.mean()), _rms(truth_dbm - predicted_dbm)


def _distances(target: Target) -> dict[str, float]:
    """Of as many random points as there are hours in the paper, and of the true centroids."""
    everywhere = target.everything.xy_m
    low, high = everywhere.min(axis=0), everywhere.max(axis=0)
    draw = stream(0, "random points")
    guesses = [draw.uniform(low, high, (489, 2)) for _ in range(5)]
    random = float(np.mean([emd_paper(guess, target.own.xy_m) for guess in guesses]))
    intervals = {"EMD of the centroids, weeks": "1w", "days": "1d", "hours": "1h"}
    return {"EMD of random points": random} | {
        fact: emd_paper(_centroids(target, interval), target.own.xy_m)
        for fact, interval in intervals.items()
    }


def _centroids(target: Target, interval: str) -> np.ndarray:
    return np.array([batch.mean(axis=0) for batch in target.batches(interval)])


def _rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--real", help="a measurement file")
    parser.add_argument("--max-accuracy", type=float, help="for the real file, in metres")
    options = parser.parse_args()
    worlds = [facts(Target.of(simulate(seed), DENSEST)) for seed in range(options.seeds)]
    reading = Reading(drop_invalid=True, max_accuracy_m=options.max_accuracy)
    real = facts(Target.of(read(options.real, reading=reading))) if options.real else None
    print(f"| fact | published | seed 0 | mean of seeds 0-{options.seeds - 1} |", end="")
    print(" real |" if real else "")
    print("| --- " * (5 if real else 4) + "|")
    for fact, (published, *_) in PUBLISHED.items():
        values = [world[fact] for world in worlds]
        span = _spread(values)
        real_text = "-" if fact in OF_PLACES else text(real[fact]) if real else ""
        cells = [fact, published, text(values[0]), span, *([real_text] if real else [])]
        print("| " + " | ".join(cells) + " |")
    met = [sum(_is_met(fact, world[fact]) for fact in PUBLISHED) for world in worlds]
    print(f"\nfacts met of {len(PUBLISHED)}, by seed: {', '.join(map(str, met))}")
    _print_second_cell()


def _is_met(fact: str, value: float) -> bool:
    _, low, high = PUBLISHED[fact]
    return low <= value <= high


def _print_second_cell() -> None:
    target = Target.of(simulate(0), SECOND)
    found = [emd_paper(_centroids(target, t), target.own.xy_m) for t in ("1w", "1d", "1h")]
    print(f"cell {SECOND}, seed 0: EMD of the centroids {', '.join(map(text, found))}")


def _spread(values: list[float]) -> str:
    low, high = text(min(values)), text(max(values))
    return low if low == high else f"{text(float(np.mean(values)))} ({low} to {high})"


def text(value: float) -> str:
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return (
        f"{value:.3f}" if abs(value) < 1 else f"{value:.1f}" if abs(value) >= 30 else f"{value:.2f}"
    )


if __name__ == "__main__":
    main()
