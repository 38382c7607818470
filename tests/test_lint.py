"""What the linter must hold in every folder: nothing that is read can run code."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = """\
import marshal
import shelve
from pickle import loads
import cloudpickle
import dill
import joblib
import numpy as np
import torch
import xml.etree.ElementTree
loads(b"")
eval("1")
exec("1")
np.load("a.npy", allow_pickle=True)
torch.load("a.pt")
joblib.load("a")
"""


@pytest.mark.parametrize("folder", ["src/veilmap", "benchmarks", "examples", "tests", "tools"])
def test_no_pickle_and_no_eval_anywhere(folder):
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise"]
    found = subprocess.run(
        [*command, "--stdin-filename", f"{folder}/x.py", "-"],
        input=FORBIDDEN, capture_output=True, text=True, cwd=ROOT,
    ).stdout  # fmt: skip
    lines = {code: [] for code in ("TID251", "S301", "S307", "S102")}
    for each in found.splitlines():
        place, _, rest = each.partition(": ")
        code = rest.partition(" ")[0]
        if code in lines:
            lines[code].append(int(place.split(":")[1]))
    assert sorted({*lines["TID251"]}) == [1, 2, 3, 4, 5, 9, 13, 14, 15]
    assert lines["S301"] == [10]
    assert lines["S307"] == [11]
    assert lines["S102"] == [12]
