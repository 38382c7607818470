"""Time and memory: candidates that take turns, and whole processes.

Candidates are timed in turn, so that a busy spell of the machine meets all of them; what is
compared are medians.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

CHILD = Path(__file__).with_name("child.py")


def in_turn(jobs: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, dict[str, float]]:
    """Each job so many times, one after the other in rounds; figures by the job's name."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    busy: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            took, worked, _ = once(job)
            seconds[name].append(took)
            busy[name].append(worked)
    return {name: spread(seconds[name], busy[name]) for name in jobs}


def once(job: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock, seconds of all cores together, and what the job gave."""
    start, busy = time.perf_counter(), time.process_time()
    result = job()
    return time.perf_counter() - start, time.process_time() - busy, result


def spread(seconds: Sequence[float], cpu_s: Sequence[float]) -> dict[str, float]:
    """The median with the least and the most, and how many cores were at work."""
    middle = statistics.median(seconds)
    return {
        "seconds": middle,
        "seconds_least": min(seconds),
        "seconds_most": max(seconds),
        "cpu_s": statistics.median(cpu_s),
        "cores": sum(cpu_s) / sum(seconds),
        "repeats": len(seconds),
    }


def process(command: Iterable[str]) -> dict[str, Any]:
    """Seconds, seconds of all cores, peak memory and output of a command in a fresh process."""
    watched = [sys.executable, "-S", "-E", str(CHILD), *command]
    done = subprocess.run(watched, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(watched)}\n{done.stderr}")
    return json.loads(done.stdout)


def processes(commands: Mapping[str, Sequence[str]], repeats: int) -> dict[str, dict[str, float]]:
    """Commands in turn, each in fresh processes; the first of each only warms the caches."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in commands}
    for _ in range(repeats + 1):
        for name, command in commands.items():
            runs[name].append(process(command))
    figures = {}
    for name, found in runs.items():
        counted = found[1:]
        times = spread([one["seconds"] for one in counted], [one["cpu_s"] for one in counted])
        figures[name] = times | {"peak_mb": max(one["peak_mb"] for one in counted)}
    return figures
