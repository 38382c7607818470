"""``veilmap inspect`` of a large CSV against the time polars takes to read it.

    python benchmarks/inspect_csv.py

``ratio`` is the time of ``veilmap inspect`` over that of ``polars.read_csv`` alone, each in a fresh
process on the same file. The usual file has phones that each meet 8 of 300 cells, in time order;
the scattered one is the worst we know: twice as many phones that all meet 300 cells, in no order.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from command import main
from table import duration, show_table, times
from timing import processes

READ = "import polars, sys; polars.read_csv(sys.argv[1])"


def measure(quick: bool) -> dict:
    """Both files, read and inspected."""
    rows, repeats = (200_000, 1) if quick else (20_000_000, 3)
    return {
        "usual": _file(rows, repeats, scattered=False),
        "scattered": _file(rows, repeats, scattered=True),
    }


def _file(rows: int, repeats: int, *, scattered: bool) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        write_csv(path, rows, scattered)
        found = processes(
            {
                "read": [sys.executable, "-c", READ, str(path)],
                "inspect": [sys.executable, "-m", "veilmap", "inspect", str(path)],
            },
            repeats,
        )
        megabytes = path.stat().st_size / 1e6
    ratio = found["inspect"]["seconds"] / found["read"]["seconds"]
    return {"rows": rows, "megabytes": megabytes, "ratio": ratio, **found}


def write_csv(path: Path, rows: int, scattered: bool) -> None:
    """1,000 phones that each meet 8 of 300 cells over 100 days, in time order; or scattered."""
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


def show(figures: dict) -> None:
    """Two rows per file."""
    names = {"read": "polars.read_csv", "inspect": "veilmap inspect"}
    show_table(
        f"CSV of {figures['usual']['rows']:,} rows, {figures['usual']['megabytes']:,.0f} MB",
        ("file", "", "time", "of reading", "cores", "peak, MB"),
        (
            (
                kind,
                label,
                duration(found[key]["seconds"]),
                times(found["ratio"]) if key == "inspect" else None,
                f"{found[key]['cores']:.1f}",
                f"{found[key]['peak_mb']:,.0f}",
            )
            for kind, found in figures.items()
            for key, label in names.items()
        ),
        left=2,
    )


if __name__ == "__main__":
    main(measure, show)
