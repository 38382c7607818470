"""A city's updates on one GPU: attacks and training, and how much of the card they use.

    PYTHONPATH=src python benchmarks/gpu.py [--quick]

It needs torch, numpy and scipy alone. All phones start a round from the same fresh weights of the
paper's network and send a FedSGD update, raw labels, of 25 points at one to three places in an
area of 3 km. The updates lie in this machine's memory, as a server has them; what an attack takes
includes the way to the GPU. Some results are held against the processor's.

``rate_share`` is how much of the card's matrix rate the products of the search come to, each
precision by its own rate, measured here; tf32 is measured too, and not used.
"""

import time
from unittest.mock import patch

import numpy as np
import torch
from city import make_clients, make_header, make_plan, make_updates
from command import MissingError, main

from veilmap.attacks.attack import AttackInput
from veilmap.attacks.gradient_matching.dlg import Dlg
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.heatmap.heatmap import Heatmap
from veilmap.federation.trainer import OnDevice, OnThreads

PHONES, WEEKS = 1_000_000, 52
CHECKED, ITERATIONS, TRAINED_POINTS = 16, 200, 100
REPEATS = 5
PRECISIONS = {"float32": torch.float32, "float64": torch.float64}


def measure(quick: bool) -> dict:
    """By what is computed."""
    if not torch.cuda.is_available():
        raise MissingError("torch sees no GPU")
    cuda, header = torch.device("cuda"), make_header()
    rates = _rates(cuda)
    updates = make_updates(header, 512 if quick else 65_536, cuda)
    return {
        "card": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "rates": rates,
        "search": _search(header, updates, rates),
        "heatmap": _heatmap(header, updates[: 64 if quick else 6144]),
        "dlg": _dlg(header, updates[: 64 if quick else 4096]),
        "training": _training(64 if quick else 4096),
    }


def _rates(device: torch.device) -> dict:
    """Of large products, in TFLOP/s."""
    side, found = 8192, {}
    for name, dtype in PRECISIONS.items():
        a, b = torch.randn(2, side, side, dtype=dtype, device=device)
        found[name] = 2e-12 * side**3 / _seconds(lambda a=a, b=b: a @ b)
    a, b = torch.randn(2, side, side, device=device)
    torch.backends.cuda.matmul.allow_tf32 = True
    found["tf32"] = 2e-12 * side**3 / _seconds(lambda: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = False
    return found


def _search(header, updates, rates: dict) -> dict:
    search = Search()

    def attack() -> list:
        return search.attack(AttackInput(header, updates, device="cuda"))

    attack()  # once to get its memory
    runs = [_timed(attack) for _ in range(REPEATS)]
    found, seconds = runs[0][0], float(np.median([seconds for _, seconds in runs]))
    needed_s = _product_seconds(attack, rates)
    per_s = len(updates) / seconds
    return {
        "updates": len(updates),
        "per_s": per_s,
        "all_per_s": [len(updates) / seconds for _, seconds in runs],
        "year_of_a_million_phones_min": PHONES * WEEKS / per_s / 60,
        "rate_share": needed_s / seconds,
        **_compared(found, search, header, updates),
    }


def _heatmap(header, updates) -> dict:
    heatmap = Heatmap(grid_cells=2500)
    heatmap.attack(AttackInput(header, updates[:64], device="cuda"))
    found, seconds = _timed(lambda: heatmap.attack(AttackInput(header, updates, device="cuda")))
    return {
        "updates": len(updates),
        "per_s": len(updates) / seconds,
        **_compared(found, heatmap, header, updates),
    }


def _dlg(header, updates) -> dict:
    """All of them descend together for so many iterations, whatever they find."""
    dlg = Dlg(max_iterations=ITERATIONS, still_m=1e-9)
    dlg.attack(AttackInput(header, updates[:8], device="cuda"))
    found, seconds = _timed(lambda: dlg.attack(AttackInput(header, updates, device="cuda")))
    return {
        "updates": len(updates),
        "iterations_per_s": ITERATIONS * len(updates) / seconds,
        **_compared(found, dlg, header, updates),
    }


def _compared(found, attack, header, updates) -> dict:
    """How far some results are from the processor's."""
    slow = attack.attack(AttackInput(header, updates[:CHECKED]))
    pairs = list(zip(found, slow, strict=False))
    apart_m = [float(np.hypot(*(one.xy_m - other.xy_m))) for one, other in pairs]
    return {
        "apart_median_m": float(np.median(apart_m)),
        "apart_most_m": max(apart_m),
        "cosines_apart": max(abs(one.cosine - other.cosine) for one, other in pairs),
    }


def _training(count: int) -> dict:
    plan, clients = make_plan(), make_clients(count, TRAINED_POINTS)
    weights = plan.network.initialise(0)
    steps = plan.training.epochs * -(-TRAINED_POINTS // plan.training.batch_size)

    def trained(trainer, some):
        return list(trainer.messages(plan, {"weights": weights}, some, 1))

    on_gpu = OnDevice(torch.device("cuda"))
    trained(on_gpu, clients[:64])
    found, seconds = _timed(lambda: trained(on_gpu, clients))
    slow = trained(OnThreads(1), clients[:CHECKED])
    apart = max(np.abs(a - b).max() for a, b in zip(found, slow, strict=False))
    return {
        "clients": count,
        "steps_per_s": steps * count / seconds,
        "weights_apart": float(apart / np.abs(slow[0]).max()),
    }


def _product_seconds(job, rates: dict) -> float:
    """How long the products of a search take at the card's rates."""
    operations = dict.fromkeys(PRECISIONS, 0)
    at = Matching.at

    def counted(matching: Matching, x: torch.Tensor):
        name = str(x.dtype).removeprefix("torch.")
        second, first = matching.network.shapes[1]
        updates = len(matching.gradient[0])
        places = 2 * x.shape[0] * x.shape[1] + updates * x.shape[1]
        operations[name] += 2 * second * first * places
        return at(matching, x)

    with patch.object(Matching, "at", counted):
        job()
    return sum(count / rates[name] / 1e12 for name, count in operations.items())


def _timed(job):
    torch.cuda.synchronize()
    began = time.perf_counter()
    result = job()
    torch.cuda.synchronize()
    return result, time.perf_counter() - began


def _seconds(job) -> float:
    job()
    return float(np.median([_timed(job)[1] for _ in range(REPEATS)]))


def show(figures: dict) -> None:
    """In plain text: a GPU box has little installed."""
    rates = ", ".join(f"{name} {rate:.0f}" for name, rate in figures["rates"].items())
    print(f"\n{figures['card']}, torch {figures['torch']}; TFLOP/s: {rates}")
    search = figures["search"]
    low, high = min(search["all_per_s"]), max(search["all_per_s"])
    print(
        f"search    {search['per_s']:12,.0f} updates/s ({low:,.0f} to {high:,.0f}), "
        f"{search['rate_share']:.0%} of the matrix rate; a year of a million phones: "
        f"{search['year_of_a_million_phones_min']:.0f} min"
    )
    print(f"heatmap   {figures['heatmap']['per_s']:12,.1f} updates/s, 2,500 cells")
    print(f"dlg       {figures['dlg']['iterations_per_s']:12,.0f} iterations/s")
    training = figures["training"]
    print(
        f"training  {training['steps_per_s']:12,.0f} steps/s; weights apart from the processor's "
        f"{training['weights_apart']:.0e}"
    )
    for name in ("search", "heatmap", "dlg"):
        found = figures[name]
        print(
            f"{name}: places {found['apart_median_m']:.2g} m apart from the processor's, "
            f"{found['apart_most_m']:.2g} m at most; cosines {found['cosines_apart']:.0e}"
        )


if __name__ == "__main__":
    main(measure, show)
