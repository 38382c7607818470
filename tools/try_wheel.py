"""Try the wheel as a stranger would: in an empty environment, from the public index alone.

python tools/try_wheel.py             # the core, without torch
python tools/try_wheel.py --network   # then also veilmap[network], as pip resolves it: gigabytes
"""

import argparse
import json
import subprocess
import sys
import time
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.builders.wheel import WheelBuilder
from locking.checks import without_settings
from locking.files import ROOT
from locking.index import PUBLIC, size_mb

# What the core stays below; polars, scipy and scikit-learn alone take 350 MB on the disk.
MOST_DISTRIBUTIONS, MOST_TO_DOWNLOAD_MB, MOST_ON_DISK_MB = 46, 200, 560
LITTLE = ("--seeds", "1", "--configurations", "fedavg", "--method", "search", "--jobs", "1")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", action="store_true", help="install torch too, and audit")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        try_in(Path(folder), options.network)


def try_in(folder, network):
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    place = Place(folder)
    place.install(wheel)
    assert place.distributions < MOST_DISTRIBUTIONS, place.distributions
    assert place.downloaded_mb < MOST_TO_DOWNLOAD_MB, place.downloaded_mb
    assert place.on_disk_mb < MOST_ON_DISK_MB, place.on_disk_mb
    place.veilmap("--help")
    place.veilmap("simulate", "campus", "--users", "2", "--days", "14", "--out", "campus.parquet")
    place.veilmap("inspect", "campus.parquet")
    place.veilmap("train", "campus.parquet", "--out", "run")
    place.veilmap("map", "run")
    assert (place.work / "run" / "map.tif").exists()
    if not network:
        place.veilmap(
            "train", "campus.parquet", "--map", "network", code=2, says="veilmap[network]"
        )
        return
    place.install(f"{wheel}[network]")
    place.veilmap("audit", "campus.parquet", "--out", "audit", *LITTLE)
    assert (place.work / "audit" / "report.html").exists()


class Place:
    """An environment with pip alone, and a folder to work in that is not the clone."""

    def __init__(self, folder):
        venv.create(folder / "environment", with_pip=True)
        self._bin = folder / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
        self.work = folder / "work"
        self.work.mkdir()
        self._pip_mb = self._size_mb()

    def install(self, what):
        """From the public index alone; says what came of it."""
        before, report = time.monotonic(), self.work / "pip.json"
        options = ("--quiet", "--index-url", PUBLIC, "--report", report)
        self._run("python", "-m", "pip", "install", *options, what)
        seconds = time.monotonic() - before
        self._run("python", "-m", "pip", "check")
        found = [each["download_info"]["url"] for each in json.loads(report.read_text())["install"]]
        self.distributions = len(found)
        self.downloaded_mb = size_mb(url for url in found if url.startswith("https:"))
        self.on_disk_mb = self._size_mb() - self._pip_mb
        print(
            f"{Path(what).name}: {self.distributions} distributions more, {self.downloaded_mb} MB "
            f"to download, {self.on_disk_mb:.0f} MB on the disk, {seconds:.0f} s; pip check: ok",
            flush=True,
        )

    def veilmap(self, *words, code=0, says=""):
        """Run a command; it must end as expected."""
        shown = self._run("veilmap", *words, code=code)
        assert says in shown, shown
        print(f"veilmap {' '.join(words)}: {says or 'ok'}", flush=True)

    def _run(self, program, *words, code=0):
        done = subprocess.run(
            [self._bin / program, *words],
            cwd=self.work,
            env=without_settings(),
            capture_output=True,
            text=True,
        )
        if done.returncode != code:
            sys.exit(f"{program} {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def _size_mb(self):
        files = (path for path in self._bin.parent.rglob("*") if path.is_file())
        return sum(path.stat().st_size for path in files if "__pycache__" not in path.parts) / 1e6


if __name__ == "__main__":
    main()
