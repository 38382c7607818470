"""One process with everything imported, whose forks are the commands."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.killing.commands import OLD_RUN, arguments, environment, make_place


class Forks:
    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0
        self._place = make_place(folder / "place")
        self.compiled = folder / "compiled"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.killing.forking"],
            env={**environment(), "NUMBA_CACHE_DIR": str(self.compiled)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline() == "ready\n"
        assert self.run(OLD_RUN, self._place) == (0, "")

    def new_place(self) -> Path:
        """With data, a spec and a finished run."""
        self._count += 1
        return shutil.copytree(self._place, self._folder / f"place {self._count}")

    def run(self, words, place, **how) -> tuple[int, str]:
        """The exit code, and what was said to standard error."""
        log = self._folder / "log"
        usual = {"signal_at": None, "number": signal.SIGKILL, "largest_bytes": None, "user": None}
        words = arguments(words, jobs=1) if isinstance(words, str) else words
        asked = {"words": words, "place": str(place), "log": str(log), **usual, **how}
        self.process.stdin.write(f"{json.dumps(asked)}\n")
        self.process.stdin.flush()
        ended = json.loads(self.process.stdout.readline())
        self.writes = ended["writes"]
        return ended["code"], log.read_text()


@pytest.fixture(scope="package")
def forks(tmp_path_factory):
    made = Forks(tmp_path_factory.mktemp("killing"))
    yield made
    made.process.stdin.close()
    made.process.stdout.close()
    made.process.wait()
