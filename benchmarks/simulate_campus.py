"""Ten million simulated measurements: seconds, and the memory they take.

    python benchmarks/simulate_campus.py

Simulates, projects, checks and sorts; then writes Parquet. In a fresh process, so that the peak of
the memory is its own.
"""

import json
import sys
import tempfile
from pathlib import Path

from command import main
from table import duration, show_table
from timing import once, process


def measure(quick: bool) -> dict:
    """Of a campus of 735 people, or of 7."""
    ran = process([sys.executable, __file__, "--one", "7" if quick else "735"])
    return json.loads(ran["output"]) | {"peak_mb": ran["peak_mb"], "cpu_s": ran["cpu_s"]}


def one(users: int) -> None:
    """In this process."""
    from veilmap.sources.campus import Campus, simulate

    simulate_s, _, data = once(lambda: simulate(0, Campus(users=users)))
    with tempfile.TemporaryDirectory() as folder:
        write_s, _, _ = once(lambda: data.write_parquet(Path(folder) / "campus.parquet"))
    found = {"users": users, "measurements": len(data)}
    print(json.dumps(found | {"simulate_s": simulate_s, "write_s": write_s}))


def show(figures: dict) -> None:
    """One row."""
    show_table(
        "a simulated campus",
        ("people", "measurements", "simulated", "written", "peak, MB"),
        [
            (
                f"{figures['users']:,}",
                f"{figures['measurements']:,}",
                duration(figures["simulate_s"]),
                duration(figures["write_s"]),
                f"{figures['peak_mb']:,.0f}",
            )
        ],
        left=0,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(int(sys.argv[2]))
    else:
        main(measure, show)
