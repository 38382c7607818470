"""DBSCAN of a campus of points against scikit-learn's, one thread.

    python benchmarks/cluster.py

Each row is a fresh process: seconds of the clustering alone, and the peak of its memory (with
numpy, scipy and the points). Points lie on 3 km²: uniform, around 300 places with heavy tails, or
each at one of n / 50 positions, as resting phones repeat theirs. scikit-learn lists all
neighbours, so it is run only where these lists stay below 2 GB; ``speedup`` is its time over ours,
from the same points by turns, and the labels of both must be equal.
"""

import json
import sys

import numpy as np
from command import main
from scipy.spatial import cKDTree
from table import duration, note, show_table, times
from timing import once, process

KINDS = ("uniform", "clustered", "repeated")
EPS_M = (0.1, 1.0, 5.0, 50.0, 200.0)
UTM_M = (590_000.0, 4_270_000.0)
PEER_BYTES = 2e9
SAME = ("clusters", "noise", "check")


def measure(quick: bool) -> dict:
    """One row per kind of points and ε; the slowest, the largest and the least speed-up."""
    points = 5_000 if quick else 170_000
    rows = [
        _row(kind, eps_m, points) for kind in KINDS for eps_m in (EPS_M[3:4] if quick else EPS_M)
    ]
    return {
        "points": points,
        "min_points": 1,
        "seconds": max(row["seconds"] for row in rows),
        "peak_mb": max(row["peak_mb"] for row in rows),
        "speedup": min((row["speedup"] for row in rows if row["speedup"]), default=None),
        "rows": rows,
    }


def _row(kind: str, eps_m: float, points: int) -> dict:
    """Our two runs around the peer's one, so that a busy spell meets both."""
    first = _in_a_process("ours", kind, eps_m, points)
    peer = None
    if 8 * _neighbours(kind, eps_m, points) < PEER_BYTES:
        peer = _in_a_process("theirs", kind, eps_m, points)
        if any(peer[name] != first[name] for name in SAME):
            raise SystemExit(f"the labels differ on {kind} points with eps {eps_m:g} m")
    second = _in_a_process("ours", kind, eps_m, points)
    seconds = (first["seconds"] + second["seconds"]) / 2
    return {
        "kind": kind,
        "eps_m": eps_m,
        "clusters": first["clusters"],
        "noise": first["noise"],
        "seconds": seconds,
        "peak_mb": first["peak_mb"],
        "peer_s": peer and peer["seconds"],
        "peer_mb": peer and peer["peak_mb"],
        "speedup": peer and peer["seconds"] / seconds,
    }


def _in_a_process(way: str, kind: str, eps_m: float, points: int) -> dict:
    ran = process([sys.executable, __file__, "--one", way, kind, str(eps_m), str(points)])
    return json.loads(ran["output"]) | {"peak_mb": ran["peak_mb"]}


def _neighbours(kind: str, eps_m: float, points: int) -> float:
    """How many of them scikit-learn would list, estimated from 200 points."""
    xy_m = world(kind, points)
    some = xy_m[:: max(points // 200, 1)]
    return cKDTree(xy_m).query_ball_point(some, eps_m, return_length=True).mean() * points


def world(kind: str, n: int) -> np.ndarray:
    """The points at the place of a campus in UTM coordinates."""
    draw = np.random.default_rng(0)
    near = draw.uniform(0, 1700, (300, 2))[draw.integers(0, 300, n)]
    kinds = {
        "uniform": lambda: draw.uniform(0, 1700, (n, 2)),
        "clustered": lambda: near + draw.standard_t(3, (n, 2)) * 8,
        "repeated": lambda: draw.uniform(0, 1700, (n // 50, 2))[draw.integers(0, n // 50, n)],
    }
    return UTM_M + kinds[kind]()


def one(way: str, kind: str, eps_m: str, points: str) -> None:
    """In this process: seconds, clusters, and a checksum of the labels."""
    xy_m = world(kind, int(points))
    cluster = WAYS[way]
    cluster(xy_m[:20], float(eps_m))  # what the first call imports is not counted
    seconds, _, labels = once(lambda: cluster(xy_m, float(eps_m)))
    found = {
        "seconds": seconds,
        "clusters": int(labels.max()) + 1,
        "noise": int((labels < 0).sum()),
        "check": int((labels.astype(np.int64) * np.arange(len(labels))).sum()),
    }
    print(json.dumps(found))


def _ours(xy_m: np.ndarray, eps_m: float) -> np.ndarray:
    from veilmap.defences.clustering.dbscan import dbscan

    return dbscan(xy_m, eps_m, 1)


def _theirs(xy_m: np.ndarray, eps_m: float) -> np.ndarray:
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=eps_m, min_samples=1, algorithm="kd_tree").fit(xy_m).labels_


WAYS = {"ours": _ours, "theirs": _theirs}


def show(figures: dict) -> None:
    """One row per kind and ε."""
    show_table(
        f"DBSCAN of {figures['points']:,} points, min_points {figures['min_points']}",
        ("points", "eps, m", "clusters", "time", "peak, MB", "sklearn", "its MB", "ratio"),
        (
            (
                row["kind"],
                f"{row['eps_m']:g}",
                f"{row['clusters']:,}",
                duration(row["seconds"]),
                f"{row['peak_mb']:,.0f}",
                duration(row["peer_s"]),
                row["peer_mb"] and f"{row['peer_mb']:,.0f}",
                times(row["speedup"]),
            )
            for row in figures["rows"]
        ),
    )
    if any(row["peer_s"] is None for row in figures["rows"]):
        note("a dash: scikit-learn would list more than 2 GB of neighbours")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
    else:
        main(measure, show)
