"""Heat maps of many updates at once.

    python benchmarks/gpu_heatmap.py                                      # on a GPU
    python benchmarks/gpu_heatmap.py --device cpu --counts 2 4 --cells 400

Synthetic FedSGD updates of the paper's network from shared fresh weights, PyTorch's initialisation:
each user has 40 to 200 points in 1 to 6 clusters of 20 to 150 m in an area of 3 km, raw labels of
-95 ± 8 dBm, η = 1e-3. For each count: attacks per second after a warm-up, and in a second pass,
which waits for the device after each part, the shares of time. ``refine`` holds what of the
products and fits belongs to small cells. Eight of the maps are compared with those of the CPU, one
at a time. It needs torch, numpy and scipy alone. Prints JSON as the last line.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from veilmap.area import Area
from veilmap.attacks import heatmap, level, recovery
from veilmap.attacks.heatmap import Heatmap
from veilmap.attacks.normal_equations import Dictionary
from veilmap.attacks.recovery import Recovery
from veilmap.attacks.search import Search
from veilmap.attacks.tangent import as_blocks, factors
from veilmap.federation.observation import Observation
from veilmap.federation.plan import Training
from veilmap.federation.side_knowledge import Header, SideKnowledge
from veilmap.local_data import Scaler
from veilmap.model.network import Network

AREA = Area(500_000.0, 4_000_000.0, 503_000.0, 4_003_000.0)
RATE, CHECKED = 1e-3, 8


def make_header():
    training = Training(epochs=1, batch_size="inf", learning_rate=RATE)
    known = SideKnowledge(Scaler.of_area(AREA), AREA, 32634, 0.0, training, 604_800.0)
    return Header(Network(dropout=(0.0, 0.0), initialisation="pytorch"), known)


def clusters(draw):
    """Places of one user."""
    count = draw.integers(1, 7)
    centres_m = draw.uniform(200, 2800, (count, 2))
    spreads_m = draw.uniform(20, 150, count)
    which = draw.choice(count, draw.integers(40, 201), p=draw.dirichlet(np.ones(count)))
    xy_m = centres_m[which] + draw.normal(size=(len(which), 2)) * spreads_m[which, None]
    return np.clip(xy_m, 0, 3000) + np.array([AREA.x_min_m, AREA.y_min_m])


def make_updates(header, count):
    """From w to w − η (2/N) Σ r_i J(x_i), rounded to float32 as a client sends it."""
    network, scaler = header.network, header.side_knowledge.scaler
    before = network.initialise(0)
    blocks = as_blocks(network, before)
    found = []
    for user in range(count):
        draw = np.random.default_rng(user)
        xy_m = clusters(draw)
        x = torch.from_numpy(scaler.standardise(xy_m).astype(np.float64))[None]
        seen = factors(network, blocks, x)
        labels = torch.from_numpy(draw.normal(-95, 8, len(xy_m)))
        residuals = seen.signal - labels
        moved = seen.combine(RATE * 2 / len(xy_m) * residuals)
        step = torch.cat([part.flatten() for block in moved for part in block]).numpy()
        after = (before - step).astype(np.float32)
        found.append(Observation(1, str(user), before, after, len(xy_m), 0.0))
    return found


class Clock:
    """Seconds of some functions, waiting for the device before and after each call."""

    def __init__(self, device):
        self.seconds, self._device = {}, device

    def wait(self):
        if self._device == "cuda":
            torch.cuda.synchronize()

    def timed(self, name, job):
        def run(*given, **named):
            self.wait()
            start = time.perf_counter()
            result = job(*given, **named)
            self.wait()
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            return result

        return run


def shares(settings, header, observations, device):
    """Of the time of one pass."""
    clock = Clock(device)
    with (
        patch.object(recovery, "fit", clock.timed("fit", recovery.fit)),
        patch.object(level, "fit", clock.timed("fit", level.fit)),
        patch.object(Dictionary, "__init__", clock.timed("products", Dictionary.__init__)),
        patch.object(Dictionary, "equations", clock.timed("products", Dictionary.equations)),
        patch.object(Recovery, "refine", clock.timed("refine", Recovery.refine)),
        patch.object(heatmap, "Search", lambda **knobs: _Searching(clock, Search(**knobs))),
    ):
        start = time.perf_counter()
        settings.attack(header, observations, device=device)
        clock.wait()
        total = time.perf_counter() - start
    return {name: round(seconds / total, 3) for name, seconds in clock.seconds.items()}


class _Searching:
    def __init__(self, clock, search):
        self.attack = clock.timed("search", search.attack)


def worst(found, expected):
    """The largest distance of means in metres, and of cosines."""
    pairs = list(zip(found, expected, strict=True))
    return (
        max(float(np.hypot(*(one.xy_m - other.xy_m))) for one, other in pairs),
        max(abs(one.cosine - other.cosine) for one, other in pairs),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", choices=["cpu", "cuda"])
    parser.add_argument("--counts", type=int, nargs="+", default=[64, 512, 4096])
    parser.add_argument("--cells", type=int, default=2500)
    options = parser.parse_args()
    header = make_header()
    observations = make_updates(header, max(options.counts))
    settings = Heatmap(cells=options.cells)
    settings.attack(header, observations[: min(options.counts)], device=options.device)
    rows = []
    for count in options.counts:
        some = observations[:count]
        if options.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        found = settings.attack(header, some, device=options.device)
        seconds = time.perf_counter() - start
        row = {"updates": count, "seconds": round(seconds, 3), "per_s": round(count / seconds, 1)}
        if options.device == "cuda":
            row["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
        row |= shares(settings, header, some[:1024], options.device)
        print(row, flush=True)
        rows.append(row)
    checked = found[:: max(len(found) // CHECKED, 1)][:CHECKED]
    seen = [observations[int(each.user)] for each in checked]
    start = time.perf_counter()
    alone = settings.attack(header, seen)
    cpu_s = (time.perf_counter() - start) / len(seen)
    mean_m, cosine = worst(checked, alone)
    result = {
        "device": torch.cuda.get_device_name() if options.device == "cuda" else "cpu",
        "cpus": os.cpu_count(),
        "cells": options.cells,
        "rows": rows,
        "cpu_s_each": round(cpu_s, 3),
        "worst_mean_m": mean_m,
        "worst_cosine": cosine,
        "agrees": bool(mean_m < 1 and cosine < 1e-6),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
