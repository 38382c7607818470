"""The commands that write results, each in a small form, and what they leave."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import make_measurements

ROOT = Path(__file__).parents[2]
CLOCK = Path(__file__).parent / "still_clock"
SPEC = """
title = "Two rates"
[settings]
interval = "1d"
hidden = [8]
activations = ["relu"]
dropout = [0.0]
[attacks]
method = "first_layer"
[[runs]]
name = "plain"
configuration = "fedsgd:learning_rate={rate}"
over.rate = [1e-4, 1e-3]
"""
LAYERS = ("--hidden", "8", "--activations", "relu", "--dropout", "0")
TINY = ("--interval", "1d", "--map", "network", *LAYERS)
OLD_RUN = ("train", "data.parquet", "--out", "run", *TINY, "--learning-rate", "1e-5")
AUDIT = (
    *("audit", "data.parquet", "--out", "out", *TINY, "--seeds", "2"),
    *("--method", "first_layer", "--configurations", "fedavg", "fedsgd"),
)
COMMANDS = {
    "train": ("train", "data.parquet", "--out", "out/run", *TINY),
    "train --overwrite": ("train", "data.parquet", "--out", "run", "--overwrite", *TINY),
    "attack": ("attack", "run", "--out", "out", "--method", "first_layer"),
    "sweep": ("sweep", "spec.toml", "--data", "data.parquet", "--out", "out", "--seeds", "2"),
    "reproduce": (
        *("reproduce", "fig:eta_tuning_1_week", "--data", "data.parquet", "--out", "out"),
        *("--quick", "--page", "out/page.md"),
    ),
    "audit": AUDIT,
    "quality": (
        *("quality", "data.parquet", "--out", "out/quality", *TINY[:2]),
        *("--seeds", "1", "--split", "random"),
    ),
    "tune": ("tune", "data.parquet", "--out", "out/tuned.toml", "--trials", "4", *TINY[:2]),
}
# With pictures, which take longest.
DRAWN = {"attack --plot": (*COMMANDS["attack"], "--plot"), "audit --figures": (*AUDIT, "--figures")}
PARALLEL = ("sweep", "reproduce", "audit")


def arguments(name: str, jobs: int) -> list[str]:
    words = (COMMANDS | DRAWN)[name]
    return [*words, *(("--jobs", str(jobs)) if words[0] in PARALLEL else ())]


def environment() -> dict[str, str]:
    paths = (CLOCK, ROOT, ROOT / "src")
    one = {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(map(str, paths))}
    return {**os.environ, **one}


def make_place(folder: Path) -> Path:
    """A folder with what every command reads, but for the run: data and a spec."""
    folder.mkdir()
    make_measurements(rows=200).write_parquet(folder / "data.parquet")
    (folder / "data.parquet").chmod(0o644)  # also for a user who may not write here
    (folder / "spec.toml").write_text(SPEC)
    return folder


def cli(words, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "veilmap", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def is_done(code: int, said: str) -> bool:
    """Ended well, or was already finished when it was killed."""
    finished = ("holds a finished run", "holds a finished comparison", "holds results already")
    return code == 0 or (code == 2 and any(each in said for each in finished))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder but locks: who is killed at the very end leaves an empty one."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


def differing(found: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """The names of files that one of them lacks or that are not the same."""
    return sorted(
        name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name)
    )
