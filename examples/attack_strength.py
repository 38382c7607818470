r"""How much of a week one update gives away: every attack beside the true centroid.

    python examples/attack_strength.py measurements.csv.gz --cell 60561 --users a841f74e \
        --weeks 2 24 --drop-invalid

Each week of each user (counted from the user's own first row) is one update from fresh weights, on
the public scaler and raw labels. The numbers are sliced EMD in metres between what an attack found
and all points of the week, mean over the seeds; the row's own reference is that of the true
centroid, which no attack that finds a single location can beat by much. It prints no position.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import polars as pl

from veilmap.area import Area
from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.federation.client import user_update
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Plan, Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import LocalData, Scaler
from veilmap.maps.network_map import NetworkMap
from veilmap.metrics.transport import emd_m
from veilmap.model.network import Network
from veilmap.model.threads import one_thread
from veilmap.rounds import cut, parse_interval
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading

TRAININGS = {
    "FedSGD, η = 1e-3": Training(epochs=1, batch_size="inf", learning_rate=1e-3),
    "FedAvg, η = 1e-5": Training(epochs=5, batch_size=20, learning_rate=1e-5),
    "FedAvg, η = 1e-4": Training(epochs=5, batch_size=20, learning_rate=1e-4),
    "FedAvg, η = 1e-3": Training(epochs=5, batch_size=20, learning_rate=1e-3),
}
ATTACKS = {
    "search": Search(inside=True),
    "first_layer": FirstLayer(),
    "heatmap": Heatmap(),
    "before": Heatmap(linearise="before"),
    "middle": Heatmap(linearise="middle"),
    "path": Heatmap(linearise="path"),
}


@dataclass(frozen=True)
class Case:
    """One week of one user, and what is public."""

    user: str
    week: int
    batch: LocalData
    area: Area
    epsg: int


def main() -> None:
    options = _options()
    cases = list(_cases(options))
    print("| initialisation | user, week | training | centroid | " + " | ".join(ATTACKS) + " |")
    print("| --- | --- | --- | --- | " + " | ".join("---" for _ in ATTACKS) + " |")
    with one_thread():
        for initialisation in options.initialisations:
            for case in cases:
                for name, training in TRAININGS.items():
                    _print_row(case, name, training, initialisation, options)


def _print_row(case, name, training, initialisation, options) -> None:
    reference = emd_m(case.batch.xy_m, case.batch.centroid_m[None])
    found = {attack: [] for attack in ATTACKS}
    for seed in range(options.seeds):
        header, observation = _update(case, training, initialisation, options, seed)
        for attack, method in ATTACKS.items():
            (result,) = method.attack(AttackInput(header, [observation]))
            cloud = result.cloud
            found[attack].append(emd_m(case.batch.xy_m, cloud.xy_m, None, cloud.weights))
    cells = [f"{np.mean(each):.0f} ± {np.std(each):.0f}" for each in found.values()]
    row = [initialisation, f"{case.user[:8]}, {case.week}", name, f"{reference:.0f}", *cells]
    print("| " + " | ".join(row) + " |", flush=True)


def _update(case, training, initialisation, options, seed) -> tuple[Header, Observation]:
    network = Network(initialisation=initialisation, dropout=(options.dropout,) * 2)
    scaler = Scaler.of_area(case.area)
    plan = Plan(NetworkMap.of(network), scaler, case.area, training, options.label_offset, seed)
    before = network.initialise(seed)
    after = user_update(plan, before, case.batch, case.user, case.week)
    known = SideKnowledge(
        scaler, case.area, case.epsg, options.label_offset, training, parse_interval("1w")
    )
    seen = Observation.of_weights(case.week, case.user, before, after, len(case.batch), 0.0)
    return Header(NetworkMap.of(network), known), seen


def _cases(options):
    data = read(options.file, reading=Reading(drop_invalid=options.drop_invalid))
    data = data.of_cell(options.cell)
    area = Area.around(data.xy_m)
    for start in options.users:
        mine = data.keep(pl.col("user").str.starts_with(start))
        for this in cut(mine, parse_interval("1w"), mine.first):
            if this.number in options.weeks:
                ((user, batch),) = this.data.items()
                yield Case(user, this.number, batch, area, data.projection.epsg)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--cell", help="default: the densest")
    parser.add_argument("--users", nargs="+", required=True, help="how their names begin")
    parser.add_argument("--weeks", nargs="+", type=int, required=True)
    parser.add_argument("--initialisations", nargs="+", default=["pytorch", "glorot"])
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--label-offset", type=float, default=0.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--drop-invalid", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
