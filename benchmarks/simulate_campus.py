"""Ten million simulated measurements: seconds, and the memory they take.

    python benchmarks/simulate_campus.py [USERS]

Simulates, projects, checks and sorts; then writes Parquet to a temporary folder.
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from veilmap.sources.campus import Campus, simulate


def main(users="735"):
    start = time.perf_counter()
    data = simulate(0, Campus(users=int(users)))
    simulated = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        data.write_parquet(Path(folder) / "campus.parquet")
    written = time.perf_counter()
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{len(data):,} measurements of {users} users")
    print(f"simulated in {simulated - start:.1f} s, written in {written - simulated:.1f} s")
    print(f"peak memory {peak_gb:.1f} GB")


if __name__ == "__main__":
    main(*sys.argv[1:])
