r"""Every defence under every attack: the price in dB, and what the server still finds.

    python examples/defences.py campus --cell x204 --target 0 --interval 1w
    python examples/defences.py measurements.csv.gz --cell 60561 --target 22223276 --interval 1d \
        --every 4 --drop-invalid --max-accuracy 100 --few

Each configuration is trained and attacked once per seed, in the paper's setting: raw labels, the
scaler fitted, single test rows, η = 1e-3. Numbers are means over the seeds, ± their standard
deviation in the JSON lines that --out collects; a run that is there is not done again. It prints
no position.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from veilmap.measurements import Measurements
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.settings import RunSettings
from veilmap.study.trial import trial

FEW = (
    "",
    "centre",
    "diverse:eps_m=50",
    "random:eps_m=50",
    "farthest:eps_m=50,num=20",
    "dp:epsilon=100",
    "geoind:epsilon_per_m=0.01",
    "gan:rho=0.5",
)
MANY = (
    *FEW,
    "diverse:eps_m=0.1",
    "diverse:eps_m=1",
    "diverse:eps_m=5",
    "random:eps_m=0.1",
    "random:eps_m=1",
    "random:eps_m=5",
    "farthest:eps_m=50,num=1",
    "farthest:eps_m=50,num=200",
    "dp:epsilon=10",
    "dp:epsilon=1000",
    "geoind:epsilon_per_m=0.002",
    "geoind:epsilon_per_m=0.05",
    "gan:rho=0",
    "gan:rho=1",
    "farthest:eps_m=50,num=20 + dp:epsilon=100",
    "diverse:eps_m=50 + centre",
)
SCHEMES = ("fedsgd", "fedavg")
# A quarter of an hour instead of hours: on the campus 5,000 smaller steps of DLG, and a heat map of
# finer cells, came to the same figures within the spread of the seeds.
FASTER = {"max_iterations": 500, "attack_rate": 0.05, "cells": 500, "finest_m": 30.0}
FIGURES = {
    "dlg": ("emd_paper", "diverged_share", "distance_m", "distance_median_m", "nearest_m"),
    "search": ("emd_paper", "diverged_share", "distance_median_m", "nearest_m"),
    "neurons": ("emd_paper", "distance_median_m", "nearest_m", "home_error_m"),
    "heatmap": ("emd_paper", "distance_median_m", "cloud_emd_m", "home_error_m"),
}


def main() -> None:
    options = _options()
    data = read(
        options.data,
        reading=Reading(drop_invalid=options.drop_invalid, max_accuracy_m=options.max_accuracy),
    ).of_cell(options.cell)
    (target,) = [user for user in data.users if user.startswith(options.target)]
    names = [
        " + ".join(filter(None, (scheme, defence)))
        for scheme in SCHEMES
        for defence in (FEW if options.few else MANY)
    ]
    cases = [(name, seed) for seed in range(options.seeds) for name in names]
    done = _done(options.out)
    with Parallel(n_jobs=options.jobs, return_as="generator_unordered") as parallel:
        for rows in parallel(
            delayed(_rows)(data, target, options, *case) for case in cases if case not in done
        ):
            with options.out.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
            print(f"{rows[0]['name']}, seed {rows[0]['seed']}", flush=True)
    _print(names, [json.loads(line) for line in options.out.read_text().splitlines()])


def _rows(data: Measurements, target: str, options, name: str, seed: int) -> list[dict]:
    settings = RunSettings.of(
        interval=options.interval,
        scaler="fitted",
        label_offset_dbm="none",
        split="random",
        seed=seed,
    )
    attacks = AttackSettings.of(target=target, every=options.every, seed=seed, **FASTER)
    done = trial(data, configure(settings, name), attacks)
    return [{"name": name, **row} for row in done.rows()]


def _done(out: Path) -> set[tuple[str, int]]:
    if not out.exists():
        return set()
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    return {(row["name"], row["seed"]) for row in rows}


def _print(names: list[str], rows: list[dict]) -> None:
    heads = [f"{attack} {figure}" for attack, figures in FIGURES.items() for figure in figures]
    print("| " + " | ".join(["configuration", "points", "RMSE, dB", *heads]) + " |")
    print("| " + " | ".join(["---"] * (len(heads) + 3)) + " |")
    for name in names:
        own = [row for row in rows if row["name"] == name]
        first = [row for row in own if row["attack"] == "dlg"]
        points = [row["defences"][-1]["points"] for row in first if row["defences"]]
        cells = [_mean(points), _spread([row["rmse_db"] for row in first])]
        for attack, figures in FIGURES.items():
            mine = [row for row in own if row["attack"] == attack]
            cells += [_mean([row[figure] for row in mine], figure) for figure in figures]
        print("| " + " | ".join([name, *cells]) + " |")


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values):.2f}"


def _mean(values: list[float | None], figure: str = "") -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    if figure == "diverged_share":
        return f"{np.mean(known):.0%}"
    return f"{np.mean(known):.1f}" if figure == "emd_paper" else f"{np.mean(known):,.0f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--cell")
    parser.add_argument("--target", required=True, help="the user, or how its name begins")
    parser.add_argument("--interval", default="1w")
    parser.add_argument("--every", type=int, default=1, help="attack one round in so many")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--few", action="store_true", help="one strength of each defence")
    parser.add_argument("--out", type=Path, default=Path("defences.jsonl"))
    parser.add_argument("--drop-invalid", action="store_true")
    parser.add_argument("--max-accuracy", type=float)
    return parser.parse_args()


if __name__ == "__main__":
    main()
