"""The path of a measurement through an audit, as CONTRIBUTING.md lists it."""

import re
from cProfile import Profile
from pathlib import Path
from types import CodeType

import veilmap
from tests.cli.test_cli import run

ROOT = Path(veilmap.__file__).parent
PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| `([\w/]+\.py)` \| `(\w+)` \|", PAGE, re.MULTILINE)
MOST_FILES = 35


def test_it_passes_few_files_and_every_function_of_the_page(little_file, tmp_path, capsys):
    audit = (little_file, "--interval", "1d", "--hidden", "8", "--activations", "tanh",
        "--dropout", "0", "--seeds", "1", "--jobs", "1", "--method", "search",
        "--configurations", "fedavg + farthest:num=5", "--out", tmp_path)  # fmt: skip
    profile = Profile()
    profile.runcall(run, capsys, "audit", *audit)
    codes = [entry.code for entry in profile.getstats() if isinstance(entry.code, CodeType)]
    called = {(code.co_filename, code.co_name) for code in codes}
    assert len(STEPS) == len({file for file, _ in STEPS}) <= MOST_FILES
    assert [step for step in STEPS if (str(ROOT / step[0]), step[1]) not in called] == []
