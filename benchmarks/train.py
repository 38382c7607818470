"""Local training against the usual loop, B=20, E=5: one client on one thread, and many clients.

    python benchmarks/train.py

One client has 3,492 points. All loops start from the same weights and see the same mini-batches.
First they are held against each other without dropout, which the usual loop draws from its own
generator; then all are timed with it, in turn, and so are the three matrix products of a step
alone; medians are compared. Many clients have 100 points each and are trained one after the other,
on all cores, and at once on a GPU where torch sees one; the cores used are CPU-seconds of this
process by seconds on the clock. It runs on a bare GPU box too, with torch and numpy alone.
"""

import os
import time

import numpy as np
import torch

from veilmap.area import Area
from veilmap.federation.plan import Plan
from veilmap.federation.trainer import OnDevice, OnThreads
from veilmap.local_data import LocalData, Scaler
from veilmap.maps.network_map import NetworkMap
from veilmap.model.dropout import Dropout
from veilmap.model.network import Network
from veilmap.model.training import compiled_for, descend_with_torch, sgd
from veilmap.streams import stream

POINTS, BATCH, EPOCHS, LEARNING_RATE, REPEATS = 3492, 20, 5, 1e-3, 7
CLIENTS, POINTS_EACH = 64, 100
STEPS, STEPS_EACH = (EPOCHS * -(-points // BATCH) for points in (POINTS, POINTS_EACH))


class UsualLoop:
    """nn.Module, autograd, torch.optim.SGD."""

    def __init__(self, network, weights):
        layers = []
        for level, (outputs, inputs) in enumerate(network.shapes):
            layers.append(torch.nn.Linear(inputs, outputs))
            if level < len(network.hidden):
                layers.append({"relu": torch.nn.ReLU, "sigmoid": torch.nn.Sigmoid}[
                    network.activations[level]]())  # fmt: skip
                layers.append(torch.nn.Dropout(network.dropout[level]))
        self.module = torch.nn.Sequential(*layers)
        start = torch.from_numpy(weights.copy())
        torch.nn.utils.vector_to_parameters(start, self.module.parameters())

    def run(self, batches):
        optimiser = torch.optim.SGD(self.module.parameters(), lr=LEARNING_RATE)
        pairs = [(torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches]
        for _ in range(EPOCHS):
            for x, y in pairs:
                optimiser.zero_grad()
                loss = torch.nn.functional.mse_loss(self.module(x)[:, 0], y)
                loss.backward()
                optimiser.step()
        flat = torch.nn.utils.parameters_to_vector(self.module.parameters())
        return flat.detach().numpy()


def make_batches():
    draw = np.random.default_rng(0)
    x = draw.normal(size=(POINTS, 2)).astype(np.float32)
    y = draw.normal(0, 5, POINTS).astype(np.float32)
    return [(x[i : i + BATCH], y[i : i + BATCH]) for i in range(0, POINTS, BATCH)]


def make_clients():
    """A plan for all, and each client's points."""
    area = Area(-1000, -1000, 1000, 1000)
    plan = Plan(NetworkMap(), Scaler((0.0, 0.0), (500.0, 500.0)), area, label_offset_dbm=-96.0)
    clients = []
    for client in range(CLIENTS):
        draw = np.random.default_rng(client)
        xy_m, rsrp_dbm = draw.normal(0, 500, (POINTS_EACH, 2)), draw.normal(-96, 5, POINTS_EACH)
        clients.append((str(client), LocalData(xy_m, rsrp_dbm, np.arange(POINTS_EACH) * 60.0)))
    return plan, clients


def products():
    """The three products of one step alone, the least that an implementation with them computes."""
    h, delta, matrix = torch.randn(BATCH, 224), torch.randn(BATCH, 640), torch.randn(640, 224)
    for _ in range(STEPS):
        torch.mm(h, matrix.T)
        torch.mm(delta, matrix)
        matrix.addmm_(delta.T, h, alpha=-1e-9)


def relative_difference():
    """Of the weights after training without dropout, from those of the usual loop."""
    plain, batches = Network(dropout=(0.0, 0.0)), make_batches()
    weights = plain.initialise(0)
    usual = UsualLoop(plain, weights).run(batches)
    ours = sgd(plain, weights, batches, epochs=EPOCHS, learning_rate=LEARNING_RATE)
    return float(np.abs(ours - usual).max() / np.abs(usual).max())


def one_client_jobs():
    network, batches = Network(), make_batches()
    weights = network.initialise(0)
    loop = UsualLoop(network, weights)

    def ours(way):
        dropout = Dropout(network, stream(0, "dropout"))
        way(network, weights, batches, EPOCHS, LEARNING_RATE, dropout)

    return {
        "usual loop": lambda: loop.run(batches),
        "veilmap": lambda: ours(compiled_for(network) or descend_with_torch),
        "veilmap without numba": lambda: ours(descend_with_torch),
        "products": products,
    }


def many_clients_jobs():
    plan, clients = make_clients()
    state = plan.map.start(plan)
    ways = {"one thread": OnThreads(1), "all cores": OnThreads(len(os.sched_getaffinity(0)))}
    if torch.cuda.is_available():
        ways["GPU"] = OnDevice(torch.device("cuda"))
    return {
        name: lambda way=way: [len(each) for each in way.messages(plan, state, clients, 1)]
        for name, way in ways.items()
    }


def timed(jobs, steps, repeats):
    """Steps per second and cores used of each, the median of some repeats in turn."""
    taken = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(repeats):
        for name, job in jobs.items():
            start, cpu_start = time.perf_counter(), time.process_time()
            job()
            seconds = time.perf_counter() - start
            taken[name].append((seconds, (time.process_time() - cpu_start) / seconds))
    medians = {name: np.median(values, axis=0) for name, values in taken.items()}
    return {name: (steps / seconds, cores) for name, (seconds, cores) in medians.items()}


def measure(quick: bool) -> dict:
    """Steps per second by who trains and how, and what they come to."""
    torch.set_num_threads(1)
    difference = relative_difference()
    if difference > 1e-4:
        raise SystemExit(f"the two loops disagree: relative difference {difference:.1e}")
    repeats = 1 if quick else REPEATS
    one = timed(one_client_jobs(), STEPS, repeats)
    many = timed(many_clients_jobs(), CLIENTS * STEPS_EACH, repeats)
    usual = one["usual loop"][0]
    return {
        "steps_ratio": one["veilmap"][0] / usual,
        "steps_ratio_without_numba": one["veilmap without numba"][0] / usual,
        "steps_ratio_all_cores": many["all cores"][0] / usual,
        "cores_used": many["all cores"][1],
        "products_s": 1 / one["products"][0],
        "relative_difference": difference,
        "steps_per_s": {
            "one client": {name: rate for name, (rate, _) in one.items()},
            f"{CLIENTS} clients": {name: rate for name, (rate, _) in many.items()},
        },
    }


def show(figures: dict) -> None:
    """A table for one client and one for many."""
    from table import duration, note, show_table, times

    usual = figures["steps_per_s"]["one client"]["usual loop"]
    for who, rates in figures["steps_per_s"].items():
        show_table(
            f"{who}, B = {BATCH}, E = {EPOCHS}",
            ("", "steps a second", "a step", "the usual loop's"),
            (
                (name, f"{rate:,.0f}", duration(1 / rate), times(rate / usual))
                for name, rate in rates.items()
            ),
        )
    note(f"all cores: {figures['cores_used']:.2f} of them were at work")
    note(f"largest difference of the weights, relative: {figures['relative_difference']:.1e}")


if __name__ == "__main__":
    from command import main

    main(measure, show)
