"""DBSCAN of a campus of points against scikit-learn's, one thread.

    python benchmarks/cluster.py [--points 170000] [--min-points 1]

Each row is a fresh process: seconds of the clustering alone, and the peak of its memory
(``peak_megabytes``: with numpy, scipy and the points). Points lie on 3 km²: uniform, around 300
places with heavy tails, or each at one of n / 50 positions, as resting phones repeat theirs.
scikit-learn lists all neighbours, so it is run only where these lists stay below 2 GB; ``speedup``
is its time over ours, from the same points by turns, and the labels of both must be equal. Prints
a table and, as the last line, JSON with the slowest ``seconds``, the highest ``peak_megabytes`` and
the lowest ``speedup``.
"""

# ruff: noqa: E402 - the variables below count only before numpy is imported.
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from scipy.spatial import cKDTree

KINDS = ("uniform", "clustered", "repeated")
EPS_M = (0.1, 1.0, 5.0, 50.0, 200.0)
UTM_M = (590_000.0, 4_270_000.0)
PEER_BYTES = 2e9


def world(kind, n):
    """The points at the place of a campus in UTM coordinates."""
    draw = np.random.default_rng(0)
    near = draw.uniform(0, 1700, (300, 2))[draw.integers(0, 300, n)]
    return (
        UTM_M
        + {
            "uniform": lambda: draw.uniform(0, 1700, (n, 2)),
            "clustered": lambda: near + draw.standard_t(3, (n, 2)) * 8,
            "repeated": lambda: draw.uniform(0, 1700, (n // 50, 2))[draw.integers(0, n // 50, n)],
        }[kind]()
    )


def ours(xy_m, eps_m, min_points):
    from veilmap.defences.clustering.dbscan import dbscan

    return dbscan(xy_m, eps_m, min_points)


def theirs(xy_m, eps_m, min_points):
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=eps_m, min_samples=min_points, algorithm="kd_tree").fit(xy_m).labels_


WAYS = {"ours": ours, "theirs": theirs}


def run_one(way, kind, eps_m, points, min_points):
    """In this process: seconds, megabytes, clusters, and a sum that tells labels apart."""
    xy_m = world(kind, points)
    # What the first call imports is not counted.
    WAYS[way](xy_m[:20], eps_m, min_points)
    start = time.perf_counter()
    labels = WAYS[way](xy_m, eps_m, min_points)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak_megabytes": peak / 1e3,
                "clusters": int(labels.max()) + 1,
                "noise": int((labels < 0).sum()),
                "check": int((labels.astype(np.int64) * np.arange(points)).sum()),
            }
        )
    )


def in_a_process(way, kind, eps_m, options):
    command = [sys.executable, __file__, "--points", str(options.points)]
    command += ["--min-points", str(options.min_points), "--one", way, kind, str(eps_m)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def neighbours(kind, eps_m, points):
    """How many of them scikit-learn would list, estimated from 200 points."""
    xy_m = world(kind, points)
    some = xy_m[:: max(points // 200, 1)]
    return cKDTree(xy_m).query_ball_point(some, eps_m, return_length=True).mean() * points


def measure(kind, eps_m, options):
    """Our two runs around the peer's one, so that a busy spell meets both."""
    first = in_a_process("ours", kind, eps_m, options)
    row = {"kind": kind, "eps_m": eps_m, "speedup": None, "peer_s": None, "peer_mb": None}
    if 8 * neighbours(kind, eps_m, options.points) < PEER_BYTES:
        peer = in_a_process("theirs", kind, eps_m, options)
        assert {name: peer[name] for name in ("clusters", "noise", "check")} == {
            name: first[name] for name in ("clusters", "noise", "check")
        }
        row |= {"peer_s": round(peer["seconds"], 2), "peer_mb": round(peer["peak_megabytes"])}
    second = in_a_process("ours", kind, eps_m, options)
    seconds = (first["seconds"] + second["seconds"]) / 2
    if row["peer_s"] is not None:
        row["speedup"] = round(peer["seconds"] / seconds, 2)
    row |= {name: first[name] for name in ("clusters", "noise")}
    return row | {"seconds": round(seconds, 2), "peak_megabytes": round(first["peak_megabytes"])}


def table(options):
    shown = ("kind", "eps_m", "clusters", "noise", "seconds", "peak_megabytes")
    shown += ("peer_s", "peer_mb", "speedup")
    print("| " + " | ".join(shown) + " |\n" + "| --- " * len(shown) + "|")
    for kind in KINDS:
        for eps_m in EPS_M:
            row = measure(kind, eps_m, options)
            cells = ("-" if row[name] is None else f"{row[name]}" for name in shown)
            print("| " + " | ".join(cells) + " |", flush=True)
            yield row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=170_000)
    parser.add_argument("--min-points", type=int, default=1)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        way, kind, eps_m = options.one
        run_one(way, kind, float(eps_m), options.points, options.min_points)
        return
    rows = list(table(options))
    speedups = [row["speedup"] for row in rows if row["speedup"] is not None]
    result = {
        "points": options.points,
        "min_points": options.min_points,
        "seconds": max(row["seconds"] for row in rows),
        "peak_megabytes": max(row["peak_megabytes"] for row in rows),
        "speedup": min(speedups, default=None),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
