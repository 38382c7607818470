"""What the figures were measured on: the machine, the libraries, the state of the source."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("veilmap", "numpy", "scipy", "torch", "numba", "polars", "scikit-learn", "flwr")
ROOT = Path(__file__).parents[1]


def machine() -> dict[str, Any]:
    """All of it, ready for JSON; None where the system does not report it."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "--short", "HEAD"),
        "changed": bool(_git("status", "--porcelain", "--untracked-files=no")),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "threads": _threads(),
        "caches": _caches(),
        "memory_gb": round(_memory_bytes() / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "blas": _blas(),
    }


def _threads() -> dict[str, int]:
    """As the benchmarks run: products on one, where a table does not say more; tables on all."""
    import polars

    return {"products": 1, "polars": polars.thread_pool_size()}


def _git(*command: str) -> str | None:
    try:
        done = subprocess.run(("git", *command), cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _cpu() -> str:
    for line in _lines(Path("/proc/cpuinfo")):
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or platform.machine()


def _caches() -> dict[str, str]:
    """Of the first core, by level: L1d, L2, L3."""
    caches = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            "".join(_lines(folder / name)).strip() for name in ("level", "type", "size")
        )
        if kind != "Instruction":
            caches[f"L{level}{'d' if kind == 'Data' else ''}"] = size
    return caches


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _memory_bytes() -> int:
    import psutil

    return psutil.virtual_memory().total


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _blas() -> dict[str, Any]:
    """Whose products numpy and torch compute, and for which kind of processor."""
    import numpy
    import torch

    blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    found = {
        "numpy": f"{blas.get('name')} {blas.get('version')}",
        "torch": "MKL" if torch.backends.mkl.is_available() else "other",
        "torch_capability": torch.backends.cpu.get_cpu_capability(),
    }
    try:
        from threadpoolctl import threadpool_info
    except ModuleNotFoundError:
        return found
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return found | {"numpy_architecture": next((p.get("architecture") for p in pools), None)}


if __name__ == "__main__":
    import json

    json.dump(machine(), sys.stdout, indent=2)
