"""What each attack costs on one update, and DLG for each iteration; one thread.

    python benchmarks/attack_methods.py

An iteration of DLG by linear regions is timed beside one by automatic differentiation, in both
precisions, along the same way: compiled (``veilmap[fast]``) and in numpy alone. The heat map is
timed for a first update and for further ones from the same weights.
"""

import statistics
import sys
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import torch
from command import main
from observations import MANY_STEPS, SETTINGS, observe
from table import duration, show_table, times
from timing import in_turn, once

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.gradient_matching.batched_descent import descend_batched
from veilmap.attacks.gradient_matching.descent import descend_one_by_one
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.optimisers import Adam
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.gradient_matching.starts import RandomStarts
from veilmap.attacks.gradient_matching.trajectory import StoppingCriteria, Trajectory
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.attacks.joint.joint import Joint
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.rows.rows import Rows

PRECISIONS = {"double": torch.float64, "single": torch.float32}


def measure(quick: bool) -> dict:
    """Seconds of each attack, and of an iteration by each way."""
    torch.set_num_threads(1)
    header, observations = observe(SETTINGS["FedSGD, raw labels"], count=4)
    fedavg_header, fedavg = observe(SETTINGS["FedAvg, B = 20, E = 5, η = 1e-5"])
    fast_header, fast = observe(MANY_STEPS, count=4)
    gradient = leaked_gradient(observations[0])
    matching = Matching.of(header.network, [observations[0].weights_before], [gradient])
    repeats = 1 if quick else 5
    return {
        "points": observations[0].n,
        "attacks": {
            "first_layer_s": _median_s(
                lambda: FirstLayer().one(header, observations[0]), 100 * repeats
            ),
            **_heatmap(header, observations, repeats),
            "heatmap_fedavg_s": _median_s(
                lambda: Heatmap().attack(AttackInput(fedavg_header, fedavg)), repeats
            ),
            "rows_s": _median_s(lambda: Rows().attack(AttackInput(fast_header, fast)), repeats)
            / len(fast),
            "joint_s": _joint_s(fast_header, fast, repeats),
            **_many(header, observations, 50 if quick else 1000),
        },
        "iterations": {
            name: _iteration(matching.to(dtype), 30 if quick else 300, repeats)
            for name, dtype in PRECISIONS.items()
        },
    }


def _median_s(job, repeats: int) -> float:
    job()
    return in_turn({"job": job}, repeats)["job"]["seconds"]


def _heatmap(header, observations, repeats: int) -> dict:
    heatmap, given = Heatmap(grid_cells=2500), AttackInput(header, observations)
    runs = [heatmap.attack(given) for _ in range(repeats)]
    return {
        "heatmap_s": statistics.median(run[0].seconds for run in runs),
        "heatmap_again_s": statistics.median(each.seconds for run in runs for each in run[1:]),
    }


def _joint_s(header, observations, repeats: int) -> float:
    """Per update, beside the attacks whose readings it takes."""
    given = AttackInput(header, observations)
    found = {each.name: each.attack(given) for each in (Rows(), FirstLayer())}
    beside = replace(given, found=found)
    return _median_s(lambda: Joint().attack(beside), repeats) / len(observations)


def _many(header, observations, count: int) -> dict:
    """Many attacks at once: updates for the search, starts of one update for DLG."""
    many = [observations[i % len(observations)] for i in range(count)]
    search_s = once(lambda: Search().attack(AttackInput(header, many)))[0]
    given = AttackInput(header, observations[:1])
    Dlg(max_iterations=3).attack(given)  # numba compiles at the first call
    dlg = Dlg(start=RandomStarts(count=count), max_iterations=300)
    dlg_s = once(lambda: dlg.attack(given))[0]
    return {"many": count, "search_each_s": search_s / count, "dlg_each_s": dlg_s / count}


def _iteration(matching: Matching, iterations: int, repeats: int) -> dict:
    """Seconds per iteration of one location by each implementation, in turn."""
    descents = {
        "compiled_s": descend_one_by_one,
        "numpy_s": _descend_in_numpy,
        "autograd_s": descend_batched,
    }
    for descend in descents.values():
        _descend(descend, matching, 3)
    took = {name: [] for name in descents}
    for _ in range(repeats):
        for name, descend in descents.items():
            took[name].append(_descend(descend, matching, iterations) / iterations)
    return {name: statistics.median(seconds) for name, seconds in took.items()}


def _descend(descend, matching: Matching, iterations: int) -> float:
    """Seconds of so many iterations from one place, wherever they lead."""
    criteria = StoppingCriteria((1.0, 1.0), 1e-30, 10**9, iterations, (0.0, 0.0), np.inf)
    trajectory = Trajectory((0.5, 0.5), criteria)
    descend(matching, [[trajectory]], -95.0, lambda: Adam(0.02), lambda count: None)
    return trajectory.seconds


def _descend_in_numpy(*arguments) -> None:
    """``descend_one_by_one`` as it is without numba."""
    with patch.dict(sys.modules, {"veilmap.attacks.gradient_matching.compiled_descent": None}):
        descend_one_by_one(*arguments)


def show(figures: dict) -> None:
    """One table of attacks, one of iterations."""
    found = figures["attacks"]
    many = found["many"]
    show_table(
        f"attacks on a FedSGD update ({figures['points']:,} points)",
        ("", "time"),
        [
            ("FirstLayer", duration(found["first_layer_s"])),
            ("Heatmap(grid_cells=2500)", duration(found["heatmap_s"])),
            ("the same, each further update", duration(found["heatmap_again_s"])),
            ("Heatmap() of a FedAvg update", duration(found["heatmap_fedavg_s"])),
            ("Rows of a FedAvg update, η = 1e-3", duration(found["rows_s"])),
            ("Joint, per FedAvg update, beside Rows", duration(found["joint_s"])),
            (f"Search, each of {many:,} updates", duration(found["search_each_s"])),
            (f"Dlg, each of {many:,} starts, 300 iterations", duration(found["dlg_each_s"])),
        ],
    )
    show_table(
        "an iteration of DLG",
        ("precision", "autograd", "regions, numpy", "regions, compiled", "ratio"),
        (
            (
                name,
                *(duration(each[way]) for way in ("autograd_s", "numpy_s", "compiled_s")),
                times(each["autograd_s"] / each["compiled_s"]),
            )
            for name, each in figures["iterations"].items()
        ),
    )


if __name__ == "__main__":
    main(measure, show)
