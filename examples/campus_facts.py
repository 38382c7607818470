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
from sklearn.cluster import DBSCAN
from sklearn.ensemble import RandomForestRegressor

from veilmap.measurements import Measurements
from veilmap.metrics.transport import emd_paper
from veilmap.rounds import Split, cut, parse_interval
from veilmap.sources.campus import simulate
from veilmap.sources.campus.simulation import DENSEST
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading
from veilmap.streams import stream

# (fact, published, the range that the simulated one must be in)
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
    "RMSE of a constant, dB": ("5 to 7", 5.0, 7.0),
    "the same, whole bursts as test data": ("", 5.0, 7.5),
    "RMSE of a random forest, dB": ("clearly below", 1.0, 5.0),
    "the same, whole bursts as test data ": ("", 1.0, 5.5),
    "EMD of random points": ("21.33", 19.3, 23.3),
    "EMD of the centroids, weeks": ("6 to 7.6", 6.0, 7.6),
    "days": ("5 to 6.4", 5.0, 6.4),
    "hours": ("4 to 5.3", 4.0, 5.3),
}
# Not told of real people.
OF_PLACES = ("home, km east of the middle", "share in the western half")


@dataclass(frozen=True)
class Target:
    """The one whose whereabouts are at stake: the densest user of a cell."""

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
    values = [*_sizes(target), *_places(target), *_signal(target), *_distances(target)]
    return dict(zip(PUBLISHED, values, strict=True))


def _sizes(target: Target) -> list[float]:
    data, rows = target.everything, len(target.own)
    width_m, height_m = np.ptp(_xy_m(data), axis=0)
    months = (data.table["time"][-1] - data.first).days / 30.44
    weeks, days, thirds, hours = (len(target.batches(t)) for t in ("1w", "1d", "3h", "1h"))
    return [
        len(data.users), len(data.cells), len(data), months, width_m * height_m / 1e6, weeks,
        rows / weeks, rows / days, rows / thirds, hours, rows / hours,
    ]  # fmt: skip


def _places(target: Target) -> list[float]:
    """Home is the densest square of 100 m; clusters are DBSCAN's with every point in one."""
    xy_m = _xy_m(target.own)
    everywhere = _xy_m(target.everything)
    middle_m = (everywhere.min(axis=0) + everywhere.max(axis=0)) / 2
    squares, counts = np.unique(xy_m // 100, axis=0, return_counts=True)
    home_m = 100 * squares[counts.argmax()] + 50
    near = np.hypot(*(xy_m - home_m).T) < 300
    weeks = target.batches("1w")
    clusters = [np.mean([_clusters(week, eps_m) for week in weeks]) for eps_m in (0.1, 1, 5, 50)]
    west = (xy_m[:, 0] < middle_m[0]).mean()
    return [(home_m - middle_m)[0] / 1000, near.mean(), west, *clusters]


def _clusters(xy_m: np.ndarray, eps_m: float) -> int:
    found = DBSCAN(eps=eps_m, min_samples=1).fit(np.unique(xy_m, axis=0))
    return int(found.labels_.max()) + 1


def _signal(target: Target) -> list[float]:
    own_dbm, cell_dbm = target.own.table["rsrp_dbm"].mean(), target.cell.table["rsrp_dbm"].mean()
    splits = (Split(split="random"), Split(split="burst"))
    constant, forest = zip(*(_errors_db(target.cell, split) for split in splits), strict=True)
    return [own_dbm, cell_dbm, *constant, *forest]


def _errors_db(cell: Measurements, split: Split) -> tuple[float, float]:
    train, test = split.apply(cell, seed=0)
    dbm, truth_dbm = train.table["rsrp_dbm"].to_numpy(), test.table["rsrp_dbm"].to_numpy()
    forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0, n_jobs=2)
    predicted_dbm = forest.fit(_xy_m(train), dbm).predict(_xy_m(test))
    return _rms(truth_dbm - dbm.mean()), _rms(truth_dbm - predicted_dbm)


def _distances(target: Target) -> list[float]:
    """Of as many random points as there are hours, and of the true centroids."""
    xy_m, everywhere = _xy_m(target.own), _xy_m(target.everything)
    low, high = everywhere.min(axis=0), everywhere.max(axis=0)
    draw = stream(0, "random points")
    guesses = [draw.uniform(low, high, (489, 2)) for _ in range(5)]
    centroids = [
        np.array([batch.mean(axis=0) for batch in target.batches(t)]) for t in ("1w", "1d", "1h")
    ]
    random = float(np.mean([emd_paper(guess, xy_m) for guess in guesses]))
    return [random, *(emd_paper(points, xy_m) for points in centroids)]


def _xy_m(data: Measurements) -> np.ndarray:
    return data.table.select("x_m", "y_m").to_numpy()


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
        told = "-" if fact in OF_PLACES else _text(real[fact]) if real else ""
        cells = [fact.strip(), published, _text(values[0]), span, *([told] if real else [])]
        print("| " + " | ".join(cells) + " |")


def _spread(values: list[float]) -> str:
    low, high = _text(min(values)), _text(max(values))
    return low if low == high else f"{_text(float(np.mean(values)))} ({low} to {high})"


def _text(value: float) -> str:
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return (
        f"{value:.3f}" if abs(value) < 1 else f"{value:.1f}" if abs(value) >= 30 else f"{value:.2f}"
    )


if __name__ == "__main__":
    main()
