"""Small runs whose figures must not change, through the public functions alone.

What may be renamed, as a method or a keyword, stands once, at the top.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import veilmap
from tests.unchanged import figures
from tests.unchanged.world import write_world

ALL_METHODS = ("dlg", "search", "first_layer", "heatmap")
COARSE = {"grid_cells": 40, "finest_m": 60.0}  # squares of the heat map
SHORT = {"max_iterations": 40}

Figures = dict[str, Any]

SMALL = {
    "map": "network",
    "hidden": (12, 10),
    "dropout": (0.05, 0.05),
    "cell": "a",
    "interval": "1w",
}
ONE_LAYER = {"hidden": (9,), "activations": ("relu",), "dropout": (0.0,)}
RAW = {"label_offset_dbm": "none", "learning_rate": 2e-4}

TRAINED: dict[str, dict[str, Any]] = {
    "paper": {"map": "network", "cell": "a", "interval": "2w", "epochs": 2},
    "fedsgd": {**SMALL, **RAW, "epochs": 1, "batch_size": "inf", "split": "random"},
    "fedavg": {**SMALL, "scaler": "fitted", "learning_rate": 2e-3, "past": True},
    "daily": {**SMALL, "interval": "3d", "fraction": 0.5, "split": "chronological", "seed": 3},
    "cumulative": {**SMALL, "cumulative": True, "fraction": 0.6, "past": True, "epochs": 2},
    "public": {**SMALL, "area": (-0.11, 51.49, -0.09, 51.51), "label_offset_dbm": -95.0},
    "tanh": {**SMALL, "activations": ("tanh", "elu"), "initialisation": "pytorch"},
    "elu": {**SMALL, "activations": ("relu", "elu"), "epochs": 3},
    "one layer": {**SMALL, **ONE_LAYER},
    "three layers": {
        **SMALL,
        "hidden": (8, 7, 6),
        "activations": ("relu", "tanh", "sigmoid"),
        "dropout": (0.0, 0.1, 0.0),
    },
    "median": {**SMALL, "aggregation": "median"},
    "trimmed": {**SMALL, "aggregation": "trimmed", "trimmed_share": 0.3, "most_norm": 1e3},
    "broken": {**SMALL, "broken": ("bob=nan", "eve=flipped", "tom=huge"), "most_norm": 3.0},
    "diverse": {**SMALL, "defence": ("diverse:eps_m=40",)},
    "farthest": {
        **SMALL,
        "defence": ("farthest:eps_m=50,num=20",),
        "defended": ("ann", "bob"),
    },
    "random": {**SMALL, "defence": ("random:num=15",), "interval": "3d", "seed": 1},
    "geoind": {**SMALL, "defence": ("geoind:epsilon_per_m=0.02",)},
    "dp": {**SMALL, "defence": ("diverse:eps_m=40", "dp:epsilon=100,clip=0.5")},
    "gan past": {**SMALL, "defence": ("gan:max_steps=20",)},
    "gan public": {**SMALL, "defence": ("gan:rho=0.2,learns_from=public,max_steps=20",)},
}

ATTACKED: dict[str, tuple[str, dict[str, Any]]] = {
    "all on paper": ("paper", {"method": ALL_METHODS, **SHORT, **COARSE, "theory": True}),
    "all on fedsgd": ("fedsgd", {"method": ALL_METHODS, "max_iterations": 2000, **COARSE}),
    "all on fedavg": ("fedavg", {"method": ALL_METHODS, **SHORT, **COARSE, "starts": 3}),
    "all on tanh": ("tanh", {"method": ALL_METHODS, **SHORT, **COARSE, "every": 2}),
    "all on elu": ("elu", {"method": ALL_METHODS, **SHORT, **COARSE, "every": 2}),
    "all on one layer": ("one layer", {"method": ALL_METHODS, **SHORT, **COARSE, "every": 2}),
    "all on three layers": ("three layers", {"method": ALL_METHODS, **SHORT, **COARSE, "every": 4}),
    "all on a sum": (
        "fedavg",
        {"method": ALL_METHODS, **SHORT, **COARSE, "secure_aggregation": True, "every": 2},
    ),
    "all on cumulative": ("cumulative", {"method": ALL_METHODS, **SHORT, **COARSE, "seed": 4}),
    "all on farthest": ("farthest", {"method": ALL_METHODS, **SHORT, **COARSE, "target": "bob"}),
    "all on dp": ("dp", {"method": ALL_METHODS, **SHORT, **COARSE, "theory": "theorem 1"}),
    "all on gan": ("gan public", {"method": ALL_METHODS, **SHORT, **COARSE, "every": 2}),
    "grid sgd": (
        "fedsgd",
        {"method": "dlg", "start": "grid", "starts": 4, "optimiser": "sgd", **SHORT},
    ),
    "previous single": (
        "fedsgd",
        {
            "method": "dlg", "start": "previous", "precision": "single", "label_dbm": -90.0,
            "max_iterations": 400,
        },
    ),
    "centroid after": (
        "fedavg",
        {
            "method": "dlg", "start": "centroid", "starts": 2, "start_noise_m": 40.0,
            "weights": "after", "circling_m": 0.3, "max_iterations": 3000,
        },
    ),
    "daily single": (
        "daily",
        {"method": "dlg", "precision": "single", "attack_rate": 0.08, **SHORT, "seed": 2},
    ),
    "search inside": ("fedavg", {"method": "search", "inside": True, "exact_m": 0.5}),
    "heatmap both": (
        "fedsgd",
        {"method": "heatmap", "sign": "both", "linearise": "path", **COARSE},
    ),
    "heatmap fine": ("public", {"method": "heatmap", "close": 1.0, "every": 2}),
}  # fmt: skip

AUDIT: dict[str, Any] = {
    "method": ALL_METHODS,
    "cell": "a",
    "interval": "1w",
    "hidden": (8, 6),
    "seeds": 2,
    "targets": 2,
    "every": 2,
    "configurations": ("fedavg", "fedavg + farthest:eps_m=50,num=5"),
    "max_iterations": 20,
    **COARSE,
}
SWEPT = Path(__file__).with_name("sweep.toml")
REPRODUCED = ("tab:radiocells", "fig:catastrophic_forgetting")


class Workshop:
    """A folder, the measurements in it, and the runs that attacks share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = veilmap.read(write_world(folder / "world.csv"))
        self.trained = cache(self._train)

    def _train(self, name: str) -> Path:
        out = self.folder / name
        veilmap.train(self.data, out=out, **TRAINED[name])
        return out


def train(work: Workshop, name: str) -> Figures:
    return figures.of_run(work.trained(name))


def attack(work: Workshop, name: str) -> Figures:
    trained, keywords = ATTACKED[name]
    out = work.folder / f"attack {name}"
    veilmap.attack(work.trained(trained), out=out, **keywords)
    return figures.of_attack(out)


def audit(work: Workshop, name: str) -> Figures:
    out = work.folder / f"audit {name}"
    veilmap.audit(work.data, out=out, redact=name == "redacted", jobs=1, **AUDIT)
    return figures.of_audit(out, of_rounds=name == "open")


def sweep(work: Workshop, name: str) -> Figures:
    out = work.folder / f"sweep {name}"
    swept = veilmap.sweep(SWEPT, data=work.data, cell="a", out=out, seeds=2, jobs=1)
    return figures.of_sweep(out, swept)


def reproduce(work: Workshop, name: str) -> Figures:
    out = work.folder / "reproduce"
    veilmap.reproduce([name], data=work.data, cell="a", out=out, quick=True, jobs=1)
    return figures.of_reproduction(out, ALL_METHODS)


KINDS: dict[str, tuple[Callable[[Workshop, str], Figures], tuple[str, ...]]] = {
    "train": (train, tuple(TRAINED)),
    "attack": (attack, tuple(ATTACKED)),
    "audit": (audit, ("open", "redacted")),
    "sweep": (sweep, ("grid",)),
    "reproduce": (reproduce, REPRODUCED),
}
# Every run by its full name, such as "train fedsgd".
RUNS = {f"{kind} {name}": (kind, name) for kind, (_, names) in KINDS.items() for name in names}


def figures_of(work: Workshop, run: str) -> Figures:
    """Run it, and take its figures."""
    kind, name = RUNS[run]
    return KINDS[kind][0](work, name)
