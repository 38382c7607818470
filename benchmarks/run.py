"""Every claim of speed, measured side by side in one run.

    python benchmarks/run.py [NAME…] [--quick] [--out bench.json]

Each benchmark runs in a process of its own, prints its tables, and its figures go into one JSON
file with the machine and the versions. The file is written whole after every benchmark, so that an
interrupt keeps what was measured. Missing packages of a benchmark are reported, and the
others go on. ``--quick`` takes small sizes and few repeats: minutes become seconds, and the figures
are good for nothing but to see that everything runs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from command import SKIPPED, write_whole
from machine import machine

# The ceiling first: others are held against it.
BENCHMARKS = {
    "ceiling": "what the machine can do: matrix products and copies",
    "train": "local training against the usual loop",
    "attack": "attacks on one update against double back-propagation",
    "attack_methods": "what each attack costs, and DLG for each iteration",
    "kriging": "the kriging map against other packages, and by the million squares",
    "cluster": "DBSCAN against scikit-learn's",
    "startup": "the command line, from call to answer",
    "inspect_csv": "a large CSV, inspected",
    "simulate_campus": "ten million measurements, simulated",
    "secure_sum": "what a secure sum costs a node and the server",
    "growth": "time and memory over measurements, users and rounds",
    "flower": "Flower's engine beside the one in one process",
    "gpu": "a city's updates on one GPU",
}
HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(
        epilog="\n".join(f"{name:16s} {what}" for name, what in BENCHMARKS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Measure every claim of speed, side by side.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of those below; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats")
    parser.add_argument("--out", type=Path, default=Path("bench.json"), help="for the figures")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from: {', '.join(BENCHMARKS)}")
    names = options.names or list(BENCHMARKS)
    try:
        failed = run(names, options.quick, options.out)
    except KeyboardInterrupt:
        sys.exit(f"\ninterrupted; what was measured is in {options.out}")
    print(f"\nwrote {options.out}")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run(names: list[str], quick: bool, out: Path) -> list[str]:
    """One after the other; the names of those that failed."""
    content = {"quick": quick, "machine": machine(), "figures": {}, "skipped": {}, "failed": []}
    print(about(content["machine"]))
    for name in names:
        print(f"\n━━ {name}: {BENCHMARKS[name]}", flush=True)
        began = time.perf_counter()
        code, figures = run_one(name, quick)
        if code == SKIPPED:
            content["skipped"][name] = figures.get("skipped", "")
        elif code:
            content["failed"].append(name)
        else:
            content["figures"][name] = figures
        print(f"({time.perf_counter() - began:.0f} s)", flush=True)
        write_whole(out, content)
    return content["failed"]


def run_one(name: str, quick: bool) -> tuple[int, dict]:
    """The exit code of a benchmark, and its figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        command = [sys.executable, str(HERE / "by_name.py"), name, "--out", str(path)]
        done = subprocess.run([*command, *(["--quick"] if quick else [])])
        return done.returncode, json.loads(path.read_text()) if path.exists() else {}


def about(found: dict) -> str:
    """The machine on two lines."""
    caches = ", ".join(f"{level} {size}" for level, size in found["caches"].items())
    libraries = ", ".join(f"{name} {found['libraries'][name]}" for name in ("torch", "numpy"))
    state = f"{found['commit']}{' with changes' if found['changed'] else ''}"
    return (
        f"{found['cpu']}, {found['cores']} cores, {caches}, {found['memory_gb']:g} GB\n"
        f"Python {found['python']}, {libraries} ({found['blas']['torch']}, "
        f"{found['blas']['torch_capability']}), veilmap at {state}"
    )


if __name__ == "__main__":
    main()
