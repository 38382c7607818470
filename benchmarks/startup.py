"""The command line, from call to answer, in fresh processes.

    python benchmarks/startup.py

Beside each command stands its floor: Python doing nothing, and Python importing the libraries that
the command cannot do without. Files and byte code are in the system's cache, as they are from the
second call on.
"""

import sys
import tempfile
from pathlib import Path

from command import main
from table import duration, show_table
from timing import processes

LIBRARIES = {
    "help": "cyclopts, rich.console, rich.table, rich.markdown",
    "inspect": "cyclopts, rich.console, rich.table, polars, numpy, pydantic, pyproj",
}
ROWS = 2000


def measure(quick: bool) -> dict:
    """Medians over the processes, by what they run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "small.csv"
        file.write_text(_csv())
        veilmap, python = [sys.executable, "-m", "veilmap"], [sys.executable, "-c"]
        commands = {
            "python -c pass": [*python, "pass"],
            "libraries of --help": [*python, f"import {LIBRARIES['help']}"],
            "veilmap --help": [*veilmap, "--help"],
            "libraries of inspect": [*python, f"import {LIBRARIES['inspect']}"],
            "veilmap inspect": [*veilmap, "inspect", str(file)],
        }
        return {"rows": ROWS, "commands": processes(commands, 1 if quick else 15)}


def _csv() -> str:
    """Ten phones in turn, every minute, on a line through a town."""
    lines = ["user,cell,time,latitude,longitude,rsrp"]
    for row in range(ROWS):
        day, minute = divmod(row, 1440)
        moment = f"2024-01-{day + 1:02d} {minute // 60:02d}:{minute % 60:02d}:00"
        place = f"{51.5 + 1e-5 * row:.6f},{-0.12 + 1e-5 * row:.6f}"
        lines.append(f"u{row % 10},a,{moment},{place},{-80 - row % 40}")
    return "\n".join(lines)


def show(figures: dict) -> None:
    """One row per command."""
    show_table(
        f"from call to answer; the inspected file has {figures['rows']:,} rows",
        ("", "median", "least", "most", "peak memory"),
        (
            (
                name,
                *(duration(each[key]) for key in ("seconds", "seconds_least", "seconds_most")),
                f"{each['peak_mb']:,.0f} MB",
            )
            for name, each in figures["commands"].items()
        ),
    )


if __name__ == "__main__":
    main(measure, show)
