"""How every benchmark is called: alone by its file, or by ``run.py`` in a process of its own.

A benchmark is a file with ``measure(quick) -> dict`` of plain figures and ``show(figures)``, which
prints them. It ends in ``main(measure, show)``.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

Measure, Show = Callable[[bool], dict], Callable[[dict], None]

# numpy, scipy and torch read these once, when they are loaded.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SKIPPED = 77  # the exit code by which automake knows a test that could not be run


class MissingError(Exception):
    """What a benchmark needs is not here; the text says what."""


def main(measure: Measure, show: Show) -> None:
    """``python benchmarks/NAME.py [--quick] [--out NAME.json]``, on one thread."""
    run(make_parser().parse_args(), lambda: (measure, show))


def run(options: argparse.Namespace, load: Callable[[], tuple[Measure, Show]]) -> None:
    """Measure, write and show; or say what is missing."""
    on_one_thread()
    try:
        measure, show = load()
        figures = measure(options.quick)
    except (MissingError, ModuleNotFoundError) as error:
        if (getattr(error, "name", None) or "").startswith("veilmap"):
            raise
        print(f"skipped: {error}")
        write_whole(options.out, {"skipped": str(error)})
        sys.exit(SKIPPED)
    write_whole(options.out, figures)
    show(figures)


def make_parser() -> argparse.ArgumentParser:
    """What every benchmark takes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    return parser


def on_one_thread() -> None:
    """Start this program again with all libraries of products held to one thread."""
    if any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
        held = dict.fromkeys(THREAD_VARIABLES, "1")
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | held)


def write_whole(path: Path | None, content: dict) -> None:
    """JSON, complete or not at all: an interrupt leaves what was there before."""
    if path is None:
        return
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(content, indent=2) + "\n")
    part.replace(path)
