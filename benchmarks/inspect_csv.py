"""``veilmap inspect`` of a large CSV against the time polars takes to read it.

    python benchmarks/inspect_csv.py [--rows 20000000] [--folder DIR] [--scattered]

Prints a table and, as the last line, JSON: ``inspect_ratio`` is the time of ``veilmap inspect``
over that of ``polars.read_csv`` alone, each in a fresh process on the same file; medians of three.
``--scattered`` writes the worst file we know: 2,000 phones that all meet 300 cells, in no order.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

READ = "import polars, sys; polars.read_csv(sys.argv[1])"
WRAPPER = (
    "import resource, subprocess, sys, time; start = time.perf_counter();"
    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
    "print(time.perf_counter() - start,"
    " resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6)"
)


def write_csv(path, rows, scattered):
    """1,000 phones that each meet 8 of 300 cells over 100 days, in time order."""
    draw = np.random.default_rng(0)
    user = draw.integers(0, 2000 if scattered else 1000, rows)
    near = (user * 37 + draw.integers(0, 8, rows) * 11) % 300
    cell = draw.integers(0, 300, rows) if scattered else near
    start = np.datetime64("2024-01-01T00:00:00", "us")
    second = draw.integers(0, 100 * 86_400, rows)
    second = (second if scattered else np.sort(second)).astype("timedelta64[s]")
    pl.DataFrame(
        {
            "device": user,
            "cell_id": cell,
            "timestamp": start + second,
            "latitude": (51.5 + 0.001 * (user % 50) + draw.normal(0, 0.003, rows)).round(6),
            "longitude": (-0.12 + 0.001 * (user // 50) + draw.normal(0, 0.003, rows)).round(6),
            "rsrp": -draw.integers(60, 130, rows),
            "accuracy": draw.uniform(3, 60, rows).round(1),
        }
    ).write_csv(path, datetime_format="%Y-%m-%d %H:%M:%S")


def measure(command):
    """Seconds and peak memory in GB of a command, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", WRAPPER, *command], check=True, capture_output=True, text=True
    )
    seconds, gigabytes = map(float, done.stdout.split())
    return seconds, gigabytes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--scattered", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "large.csv"
        write_csv(path, options.rows, options.scattered)
        commands = {
            "polars.read_csv": [sys.executable, "-c", READ, str(path)],
            "veilmap inspect": [sys.executable, "-m", "veilmap", "inspect", str(path)],
        }
        figures = {name: [] for name in commands}
        for _ in range(3):
            for name, command in commands.items():
                figures[name].append(measure(command))
        megabytes = path.stat().st_size / 1e6
    kind = "scattered " if options.scattered else ""
    print(f"{options.rows:,} {kind}rows, {megabytes:,.0f} MB of CSV")
    result = {"rows": options.rows, "megabytes": round(megabytes)}
    for name, pairs in figures.items():
        seconds = statistics.median(pair[0] for pair in pairs)
        gigabytes = max(pair[1] for pair in pairs)
        print(f"{name:18s} {seconds:7.2f} s   peak memory {gigabytes:5.2f} GB")
        key = "read" if name.startswith("polars") else "inspect"
        result[f"{key}_s"], result[f"{key}_gb"] = round(seconds, 2), round(gigabytes, 2)
    result["inspect_ratio"] = round(result["inspect_s"] / result["read_s"], 2)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
