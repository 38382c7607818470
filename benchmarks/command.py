"""How every benchmark is called: alone by its file, or by ``run.py`` in a process of its own.

A benchmark is a file with ``measure(quick) -> dict`` of plain figures and ``show(figures)``, which
prints them. It ends in ``main(measure, show)``.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

# numpy, scipy and torch read these once, when they are loaded.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SKIPPED = 77  # the exit code by which make and automake know a test that could not be run


class MissingError(Exception):
    """What a benchmark needs is not here; the text says what."""


def main(measure: Callable[[bool], dict], show: Callable[[dict], None]) -> None:
    """``python benchmarks/NAME.py [--quick] [--out NAME.json]``, on one thread."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    on_one_thread()
    try:
        figures = measure(options.quick)
    except (MissingError, ModuleNotFoundError) as error:
        print(f"skipped: {error}")
        write_whole(options.out, {"skipped": str(error)})
        sys.exit(SKIPPED)
    write_whole(options.out, figures)
    show(figures)


def on_one_thread() -> None:
    """Start this program again with all libraries of products held to one thread."""
    if any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
        held = dict.fromkeys(THREAD_VARIABLES, "1")
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | held)


def write_whole(path: Path | None, content: dict) -> None:
    """JSON, complete or not at all: an interrupt leaves what was there before."""
    if path is None:
        return
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(content, indent=2) + "\n")
    part.replace(path)


if __name__ == "__main__":
    # By name, so that a module that is not installed is a reason to skip here too.
    name = sys.argv[1]
    sys.argv[1:2] = []
    sys.argv[0] = str(Path(__file__).with_name(f"{name}.py"))
    try:
        benchmark = import_module(name)
    except ModuleNotFoundError as error:
        print(f"skipped: {error}")
        sys.exit(SKIPPED)
    main(benchmark.measure, benchmark.show)
