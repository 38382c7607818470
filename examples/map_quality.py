"""How good is the map? Simple predictors and federated networks on the same honest split.

    python examples/map_quality.py FILE --cell CELL [--user USER] [--tune 60] [--seeds 5]

Prints RMSE in dB on the test data, mean and standard deviation over the seeds; a seed decides the
split, the initial weights and every draw. --split, --burst-gap (seconds) and the others are as in
train; --tune adds a row with the best of so many trials, tuned again for every seed. Needs
scikit-learn, which the extra "dev" brings.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import veilmap
from veilmap.local_data import LocalData
from veilmap.study.prepare import prepare
from veilmap.study.settings import RunSettings
from veilmap.study.tune import tune

# The paper: raw labels, the scaler fitted on the data. Ours: centred labels, the public area.
PAPER = {"scaler": "fitted", "label_offset_dbm": "none"}
CENTRED = {"scaler": "fitted", "label_offset_dbm": "mean"}
FEDSGD = {"batch_size": "inf", "epochs": 1, "learning_rate": 1e-3}
FEDAVG_SLOW = {"batch_size": 20, "epochs": 5, "learning_rate": 1e-5}
FEDAVG_FAST = {"batch_size": 20, "epochs": 5, "learning_rate": 1e-3}
OURS = "ours, FedAvg B=20 E=5, η=1e-3"
NETWORKS = {
    "paper, FedSGD, η=1e-3": PAPER | FEDSGD,
    "paper, FedAvg B=20 E=5, η=1e-5": PAPER | FEDAVG_SLOW,
    "paper, FedAvg B=20 E=5, η=1e-3": PAPER | FEDAVG_FAST,
    "centred, FedSGD, η=1e-3": CENTRED | FEDSGD,
    "centred, FedAvg B=20 E=5, η=1e-5": CENTRED | FEDAVG_SLOW,
    "centred, FedAvg B=20 E=5, η=1e-3": CENTRED | FEDAVG_FAST,
    OURS: FEDAVG_FAST,
}


def simple_predictors(prepared, seed):
    """Predictors that see all training rows at once."""
    pieces = [data for this in prepared.rounds for data in this.data.values()]
    rows = LocalData.join(pieces)
    x, test = (prepared.plan.scaler.standardise(part.xy_m) for part in (rows, prepared.test))
    forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=seed, n_jobs=-1)
    for name, model in (("linear in x and y", LinearRegression()), ("random forest", forest)):
        errors = model.fit(x, rows.rsrp_dbm).predict(test) - prepared.test.rsrp_dbm
        yield name, float(np.sqrt(np.mean(errors**2)))


def tuned(data, settings, trials):
    """Tuned on the training data of this seed's split alone: its test data stay unseen."""
    with tempfile.TemporaryDirectory() as folder:
        return tune(data, settings, trials=trials, journal=Path(folder) / "journal").settings


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--cell")
    parser.add_argument("--user", help="only this user; the beginning of the name is enough")
    parser.add_argument("--cumulative", action="store_true", help="cumulative online FL")
    parser.add_argument("--interval", default="1w")
    parser.add_argument("--split", default="burst")
    parser.add_argument("--burst-gap", type=float, default=300.0)
    parser.add_argument("--max-accuracy", type=float)
    parser.add_argument("--tune", type=int, default=0, help="trials of tuning, for every seed")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    reading = veilmap.Reading(drop_invalid=True, max_accuracy_m=options.max_accuracy)
    data = veilmap.read(options.file, reading=reading)
    if options.user:
        data = data.keep(pl.col("user").str.starts_with(options.user))
    task = {
        "map": "network", "cell": options.cell, "interval": options.interval,
        "split": options.split, "burst_gap_s": options.burst_gap, "cumulative": options.cumulative,
    }  # fmt: skip
    found: dict[str, list[float]] = {}
    first: dict[str, list[float]] = {}
    for seed in range(options.seeds):
        prepared = prepare(data, RunSettings.of(seed=seed, **task))
        found.setdefault("constant", []).append(prepared.rmse_constant_db)
        for name, rmse_db in simple_predictors(prepared, seed):
            found.setdefault(name, []).append(rmse_db)
        runs = {
            name: RunSettings.of(seed=seed, **task, **knobs) for name, knobs in NETWORKS.items()
        }
        if options.tune:
            runs["ours, FedAvg, tuned"] = tuned(data, runs[OURS], options.tune)
        for name, settings in runs.items():
            run = veilmap.train(data, settings)
            found.setdefault(name, []).append(run.rmse_db)
            first.setdefault(name, []).append(run.history[0].rmse_db)
    print(f"{len(prepared.rounds)} rounds of {options.interval}, {len(prepared.users)} users, "
          f"{len(prepared.data):,} rows, {options.split} split, {options.seeds} seeds")  # fmt: skip
    print(f"{'RMSE in dB':34s} {'at the end':>14s} {'after round 1':>14s}")
    for name, values in found.items():
        early = f"{statistics.mean(first[name]):14.2f}" if name in first else ""
        print(f"{name:34s} {_with_spread(values):>14s} {early}")


def _with_spread(values):
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ± {spread:.2f}"


if __name__ == "__main__":
    main()
