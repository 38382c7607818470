"""Run all that is compared and record the figures: ``python -m tests.unchanged.record [PATH]``.

On the code before a change; the commit says why figures are recorded again. The second call of two
counts, whose machine code comes from numba's cache.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.unchanged.comparing import RECORDED
from tests.unchanged.fingerprint import fingerprint
from tests.unchanged.runs import RUNS, Workshop, figures_of


def record(path: Path = RECORDED) -> None:
    """One line for each table of a run, so that a diff shows what moved."""
    with TemporaryDirectory() as folder:
        work = Workshop(Path(folder))
        runs = {run: figures_of(work, run) for run in RUNS}
    lines = ",\n".join(f"{json.dumps(run)}: {_table(each)}" for run, each in runs.items())
    path.write_text(f'{{"made_with": {_table(fingerprint())},\n"runs": {{\n{lines}\n}}}}\n')


def _table(figures: dict[str, Any]) -> str:
    lines = (f"{json.dumps(name)}: {_compact(value)}" for name, value in figures.items())
    return "{\n " + ",\n ".join(lines) + "\n}"


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    record(Path(sys.argv[1]) if sys.argv[1:] else RECORDED)
