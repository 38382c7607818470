r"""Every defence under every attack: the cost in dB, and what the server still finds.

    python examples/defences.py campus --cell x204 --target 0 --interval 1w
    python examples/defences.py measurements.csv.gz --cell 60561 --target 22223276 --interval 1d \
        --every 4 --drop-invalid --max-accuracy 100 --few

Each configuration is trained and attacked once per seed, in the paper's setting, raw labels and
single test rows, but for two things. The scaler is a deployment's, by the area: the paper's, fitted
to all positions, has its zero near the densest user's home, and an attack that finds nothing but
noise ends there. And FedAvg has η = 1e-4: with that scaler 1e-3 ends far above the error of a
constant, and 1e-5 never learns from few points.

Numbers are means over the seeds ± their standard deviation. --out keeps the figures of each trial
and no position; what is cached there is reused, and --fresh computes it again.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from veilmap.canvas import png
from veilmap.errors import UserError
from veilmap.experiments.result import TrialResult
from veilmap.experiments.schedule import Progress, run_trials
from veilmap.experiments.store import TrialStore
from veilmap.experiments.trial import Trial
from veilmap.files import PRIVATE
from veilmap.metrics.rows import TrialRow
from veilmap.report.draw_tradeoff import draw_tradeoff
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.settings import RunSettings

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
POINTS = ("points", "points_share")
ORDERINGS = (
    ("diverse:eps_m=50", ""),
    ("diverse:eps_m=50", "random:eps_m=50"),
    ("farthest:eps_m=50,num=20", "diverse:eps_m=50"),
    ("diverse:eps_m=50", "dp:epsilon=100"),
    ("diverse:eps_m=50", "geoind:epsilon_per_m=0.01"),
    ("farthest:eps_m=50,num=20", "dp:epsilon=100"),
    ("farthest:eps_m=50,num=20", "geoind:epsilon_per_m=0.01"),
)
# Faster than the defaults of veilmap attack: fewer and larger steps of DLG, coarser heat maps.
FASTER = {
    "max_iterations": 500,
    "attack_rate": 0.05,
    "grid_cells": 300,
    "finest_m": 30.0,
    "close": 1.0,
}


def main() -> None:
    options = _options()
    data = read(
        options.data,
        reading=Reading(drop_invalid=options.drop_invalid, max_accuracy_m=options.max_accuracy),
    ).of_cell(options.cell)
    target = next(user for user in data.users if user.startswith(options.target))
    names = [
        " + ".join(filter(None, (scheme, defence)))
        for scheme in options.schemes
        for defence in (options.defences or (FEW if options.few else MANY))
    ]
    trials = [
        _trial(name, seed, target, options) for seed in range(options.seeds) for name in names
    ]
    # Rows name the target.
    store = TrialStore(options.out, PRIVATE)
    progress = Progress(on_trial=_say, on_message=lambda text: print(text, file=sys.stderr))
    results = run_trials(trials, {"": data}, store, options.jobs, progress, fresh=options.fresh)
    for result in results:
        if result.failed is not None:
            raise UserError(f"{result.configuration}, seed {result.seed}: {result.failed}")
    rows = [row for result in results for row in result.rows]
    for scheme in options.schemes:
        own = [row for row in rows if row.configuration.partition(" + ")[0] == scheme]
        constant_db = np.mean(_known(own, "rmse_constant_db"))
        print(f"\n{scheme}, the constant baseline has {constant_db:.2f} dB")
        attacks = list(dict.fromkeys(row.attack for row in own))
        _print_table(own, scheme, attacks)
        _print_orderings(own, scheme, attacks)
        if options.plot:
            title = f"{options.data}, rounds of {options.interval}, {scheme}"
            figure = draw_tradeoff(own, "emd_paper", "EMD, √m: up is private", title)
            Path(f"{options.plot}-{scheme.partition(':')[0]}.png").write_bytes(png(figure))


def _trial(name: str, seed: int, target: str, options) -> Trial:
    settings = RunSettings.of(
        interval=options.interval, label_offset_dbm="none", split="random", seed=seed
    )
    attacks = AttackSettings.of(every=options.every, seed=seed, **FASTER)
    return Trial(name, configure(settings, name), (target,), attacks)


def _say(trial: Trial, result: TrialResult) -> None:
    print(f"{trial.configuration}, seed {trial.seed}", file=sys.stderr, flush=True)


def _print_table(rows: Sequence[TrialRow], scheme: str, attacks: Sequence[str]) -> None:
    """Per attack: EMD in the paper's unit ± its spread, share outside, mean distance inside."""
    heads = ["defence", "points", "RMSE, dB", *attacks, "to a true point, m", "home, m"]
    print("\n| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for name in dict.fromkeys(row.configuration for row in rows):
        by_attack = {
            attack: [row for row in rows if row.configuration == name and row.attack == attack]
            for attack in attacks
        }
        any_attack = by_attack[attacks[0]]
        points, share = (np.mean(_known(any_attack, figure)) for figure in POINTS)
        cells = [
            f"{points:,.0f} ({100 * share:.3g} %)",
            _spread(_known(any_attack, "rmse_db"), ".2f"),
            *(_found(own) for own in by_attack.values()),
            *(_strongest(by_attack, figure) for figure in ("nearest_m", "home_error_m")),
        ]
        defence = name.removeprefix(scheme).removeprefix(" + ") or "none"
        print("| " + " | ".join([defence, *cells]) + " |")


def _found(rows: Sequence[TrialRow]) -> str:
    """Over the seeds that have it; all outside in a seed, and it has no EMD and no distance."""
    emd, distance_m = (_known(rows, name) for name in ("emd_paper", "distance_m"))
    outside = np.mean(_known(rows, "diverged_share"))
    distance = f"{np.mean(distance_m):,.0f}" if distance_m else "-"
    seeds = "" if len(emd) == len(rows) else f" ({len(emd)} of {len(rows)} seeds)"
    return f"{_spread(emd, '.1f')} / {outside:.0%} / {distance}{seeds}"


def _strongest(by_attack: dict[str, list[TrialRow]], figure: str) -> str:
    """The figure of the attack for which its mean is least; one that has it in all seeds."""
    means = {
        attack: float(np.mean(known))
        for attack, rows in by_attack.items()
        if len(known := _known(rows, figure)) == len(rows)
    }
    if not means:
        return "-"
    best = min(means, key=means.__getitem__)
    return f"{means[best]:,.0f} ({best})"


def _print_orderings(rows: Sequence[TrialRow], scheme: str, attacks: Sequence[str]) -> None:
    """In how many seeds one defence has a larger EMD than another, attack by attack."""
    heads = ["the paper's ordering", *attacks]
    print("\n| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
    for high, low in ORDERINGS:
        ours, theirs = (" + ".join(filter(None, (scheme, each))) for each in (high, low))
        counts = [_wins(rows, attack, ours, theirs) for attack in attacks]
        print(f"| {high} above {low or 'plain'} | " + " | ".join(counts) + " |")


def _wins(rows: Sequence[TrialRow], attack: str, ours: str, theirs: str) -> str:
    emd = {
        (row.configuration, row.seed): row.figure("emd_paper")
        for row in rows
        if row.attack == attack
    }
    seeds = [s for name, s in emd if name == ours and (theirs, s) in emd]
    # Without any location inside the area there is no EMD: nothing was found.
    found = [(emd[ours, s] or np.inf, emd[theirs, s] or np.inf) for s in seeds]
    return f"{sum(mine > other for mine, other in found)} of {len(found)}"


def _known(rows: Sequence[TrialRow], figure: str) -> list[float]:
    values = (row.figure(figure) for row in rows)
    return [value for value in values if value is not None]


def _spread(values: list[float], spec: str) -> str:
    if len(values) < 2:
        return "-" if not values else f"{values[0]:{spec}}"
    return f"{np.mean(values):{spec}} ± {np.std(values, ddof=1):{spec}}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--cell")
    parser.add_argument("--target", required=True, help="the user, or how its name begins")
    parser.add_argument("--interval", default="1w")
    parser.add_argument("--every", type=int, default=1, help="attack every so many rounds")
    parser.add_argument("--schemes", nargs="+", default=("fedsgd", "fedavg:learning_rate=1e-4"))
    parser.add_argument("--few", action="store_true", help="one strength of each defence")
    parser.add_argument("--defences", nargs="+", help="these instead; '' is none")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("defences"))
    parser.add_argument("--fresh", action="store_true", help="compute again what is cached")
    parser.add_argument("--plot", help="also draw PLOT-fedsgd.png and PLOT-fedavg.png")
    parser.add_argument("--drop-invalid", action="store_true")
    parser.add_argument("--max-accuracy", type=float)
    return parser.parse_args()


if __name__ == "__main__":
    main()
