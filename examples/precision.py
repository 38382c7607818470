r"""Where float32 decides what an attack finds: the same updates and attacks in float64 beside it.

    python examples/precision.py [--days 4] [--seeds 3] [--quick]

A day of user 0 of the simulated campus is one update, from fresh weights on raw labels or from
weights that have learned the map on centred ones; without dropout. Twice it is the phone's: trained
and sent in float32, and the same steps in float64, without rounding. The first table reports the
median and maximum distance between the locations that an attack finds in the two, and the median
distance of each from the true centroid. ``rounded`` is the relative rounding error of the update.
The second table compares the attack's own arithmetic in float32 and float64 on one update, as sent.
It prints no position.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.gradient_matching.starts import RandomStarts
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.leak import leaked_gradient
from veilmap.federation.client import mini_batches, user_update
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Plan
from veilmap.federation.side_knowledge import Header
from veilmap.model.reference import gradient
from veilmap.model.threads import one_thread
from veilmap.sources import campus
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train_prepared

USER = "0"
NETWORK = {"map": "network", "interval": "1d", "dropout": (0.0, 0.0)}
LEARNS = {"epochs": 5, "batch_size": 20, "learning_rate": 1e-3}
SCHEMES = {
    "FedSGD, η = 1e-3": {"epochs": 1, "batch_size": "inf", "learning_rate": 1e-3},
    "FedSGD, η = 1e-5": {"epochs": 1, "batch_size": "inf", "learning_rate": 1e-5},
    "FedSGD, η = 1e-7": {"epochs": 1, "batch_size": "inf", "learning_rate": 1e-7},
    "FedAvg, η = 1e-5": {"epochs": 5, "batch_size": 20, "learning_rate": 1e-5},
}
HEADS = ("apart, m", "most", "float32", "float64")
DESCENT = {"learning_rate": 0.08, "max_iterations": 300}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--days", type=int, default=4, help="updates of each seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one seed, two days, FedSGD alone")
    options = parser.parse_args()
    days, seeds = (2, 1) if options.quick else (options.days, options.seeds)
    schemes = {n: s for n, s in SCHEMES.items() if not options.quick or n.startswith("FedSGD")}
    data = campus.simulate(0)
    lines, pairs_of = [], {}
    with one_thread():
        for name, scheme in schemes.items():
            for labels in ("raw, fresh", "centred, learned"):
                pairs = [p for s in range(seeds) for p in pairs_for(data, scheme, labels, s, days)]
                pairs_of[f"{name}, {labels}"] = pairs
                lines += [*update_lines(f"{name}, {labels}", pairs)]
        print(table(("update", "rounded", "attack", *HEADS), lines))
        lines = [line for name, pairs in pairs_of.items() for line in attack_lines(name, pairs)]
        print(f"\n{table(('update', 'attack', *HEADS), lines)}")


def pairs_for(
    data, scheme: dict, labels: str, seed: int, days: int
) -> Iterator[tuple[Header, Observation, Observation, np.ndarray]]:
    """The footing, what the phone sends, the same in float64, and the true centroid."""
    offset = "none" if labels.startswith("raw") else "mean"
    common = {"label_offset_dbm": offset, "seed": seed, **NETWORK}
    prepared = prepare(data, RunSettings.of(**common, **scheme))
    weights = prepared.plan.network.initialise(seed)
    if labels.endswith("learned"):
        weights = learned(prepare(data, RunSettings.of(**common, **LEARNS)))
    mine = [each for each in prepared.rounds if USER in each.data]
    for this in mine[:: max(len(mine) // days, 1)][:days]:
        batch = this.data[USER]
        sent = user_update(prepared.plan, weights, batch, USER, this.number)
        exact = in_float64(prepared.plan, weights, batch, this.number)
        seen = Observation.of_weights(this.number, USER, weights, sent, len(batch), this.start_s)
        yield prepared.header, seen, replace(seen, message={"weights": exact}), batch.centroid_m


def learned(prepared: Prepared) -> np.ndarray:
    return train_prepared(prepared).signal_map.weights


def in_float64(plan: Plan, weights: np.ndarray, batch, t: int) -> np.ndarray:
    """Lines 18-22 of Algorithm 1 with nothing rounded to float32."""
    w = weights.astype(np.float64)
    parts = [(x.astype(float), y.astype(float)) for x, y in mini_batches(plan, batch, USER, t)]
    for _ in range(plan.training.epochs):
        for part in parts:
            w = w - plan.training.learning_rate * gradient(plan.network, w, part)
    return w


def update_lines(name: str, pairs: list) -> Iterator[tuple[str, ...]]:
    """The same attack on both updates."""
    lost = [np.linalg.norm(leaked_gradient(s) - leaked_gradient(e)) for _, s, e, _ in pairs]
    length = [np.linalg.norm(leaked_gradient(e)) for _, _, e, _ in pairs]
    rounded = f"{np.median(np.array(lost) / length):.1e}"
    for attack, method in methods().items():
        found = [
            (place(method, header, sent), place(method, header, exact), centroid)
            for header, sent, exact, centroid in pairs
        ]
        yield name, rounded, attack, *figures(found)


def attack_lines(name: str, pairs: list) -> Iterator[tuple[str, ...]]:
    """Both arithmetics on the same update, as it is sent."""
    single, double = (descent(name) for name in ("single", "double"))
    descents = [
        (place(single, header, sent), place(double, header, sent), centroid)
        for header, sent, _, centroid in pairs
    ]
    yield name, "dlg, slopes", *figures(descents)
    searched = [
        (place(Search(), header, sent), place_without_sieve(header, sent), centroid)
        for header, sent, _, centroid in pairs
    ]
    yield name, "search, sieve", *figures(searched)


def methods() -> dict:
    return {
        "first_layer": FirstLayer(),
        "search": Search(),
        "dlg": descent("double"),
        "heatmap": Heatmap(grid_cells=200, finest_m=35.0, close=1.0),
    }


def descent(precision: str) -> Dlg:
    return Dlg(start=RandomStarts(), precision=precision, **DESCENT)


def place(method, header: Header, seen: Observation) -> np.ndarray:
    return method.attack(AttackInput(header, [seen]))[0].xy_m


def place_without_sieve(header: Header, seen: Observation) -> np.ndarray:
    with patch.object(Matching, "to", lambda self, dtype: self):
        return place(Search(), header, seen)


def figures(found: list) -> tuple[str, ...]:
    one, other, centroid = (np.array(each) for each in zip(*found, strict=True))
    apart, away, away_exact = (
        np.hypot(*difference.T) for difference in (one - other, one - centroid, other - centroid)
    )
    middles = [middle(each) for each in (away, away_exact)]
    return middle(apart), metres(apart[np.isfinite(apart)].max(initial=0)), *middles


def middle(values_m: np.ndarray) -> str:
    """The median of those with a location, and how many have none."""
    known = values_m[np.isfinite(values_m)]
    none = f" ({len(values_m) - len(known)} none)" if len(known) < len(values_m) else ""
    return f"{metres(np.median(known))}{none}" if len(known) else "none"


def metres(value: float) -> str:
    return f"{value:.1g}" if value < 0.95 else f"{value:,.0f}"


def table(heads: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    rule = "| " + " | ".join(["---"] * len(heads)) + " |"
    return "\n".join([f"| {' | '.join(heads)} |", rule, *(f"| {' | '.join(x)} |" for x in lines)])


if __name__ == "__main__":
    main()
