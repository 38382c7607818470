"""A cached result is of the code of today, or it is computed again."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import veilmap
from tests.experiments.making import make_trial
from tests.killing.commands import SPEC
from tests.sweeping.making import make_data
from veilmap.experiments import code_fingerprint
from veilmap.experiments.code_fingerprint import code_of, package_fingerprint
from veilmap.study.settings import RunSettings

DATA = make_data()
TRIAL = make_trial(DATA)
TINY = ("--interval", "1d", "--hidden", "8", "--activations", "relu", "--dropout", "0")
HEATMAP = ("--method", "heatmap", "--grid-cells", "30", "--finest", "20")
COMMANDS = {
    "audit": ("audit", "data.parquet", *TINY, *HEATMAP, "--configurations", "fedavg", "--seeds=1"),
    "sweep": ("sweep", "spec.toml", "--data", "data.parquet", "--seeds", "1"),
}


@pytest.fixture
def place(tmp_path):
    """A copy of the package, and what the commands read."""
    package = Path(veilmap.__file__).parent
    shutil.copytree(package, tmp_path / "veilmap")  # with what is compiled
    make_data().write_parquet(tmp_path / "data.parquet")
    attacks = 'method = "heatmap"\ngrid_cells = 30\nfinest_m = 20.0'
    (tmp_path / "spec.toml").write_text(SPEC.replace('method = "first_layer"', attacks))
    return tmp_path


@pytest.mark.processes
@pytest.mark.parametrize("name", COMMANDS)
def test_a_changed_constant_of_an_attack_gives_new_numbers(place, name):
    first, _ = run(place, name)
    change(place / "veilmap" / "attacks", "LEAST_SHARE", "0.2")
    changed, said = run(place, name)
    assert "of other code: computed again, and replaced" in said
    assert figures(changed) != figures(first)
    files = len(list((place / "out").rglob("*-seed*.json")))
    change(place / "veilmap" / "attacks", "LEAST_SHARE", "1e-3")
    again, _ = run(place, name)
    assert figures(again) == figures(first)
    assert len(list((place / "out").rglob("*-seed*.json"))) == files


def run(place, name):
    """The rows, and what the command said."""
    paths = (str(place), str(Path(__file__).parents[1] / "killing" / "still_clock"))
    done = subprocess.run(
        [sys.executable, "-m", "veilmap", *COMMANDS[name], "--out", "out", "--jobs", "1"],
        cwd=place,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((place / "out" / "results.json").read_text())["rows"], done.stdout


def figures(rows):
    return [(row["rmse_db"], row["cloud_emd_m"], row["nearest_m"]) for row in rows]


def change(folder, constant, value):
    """The line that sets it, wherever it stands."""
    pattern = re.compile(rf"^{constant} = .*$", re.MULTILINE)
    (file,) = (each for each in folder.rglob("*.py") if pattern.search(each.read_text()))
    file.write_text(pattern.sub(f"{constant} = {value}", file.read_text()))


def test_every_source_file_counts_by_its_content_and_its_name(tmp_path, monkeypatch):
    folder = tmp_path / "package" / "experiments"
    folder.mkdir(parents=True)
    (folder / "code_fingerprint.py").write_text("")
    monkeypatch.setattr(code_fingerprint, "__file__", str(folder / "code_fingerprint.py"))

    def fingerprint():
        package_fingerprint.cache_clear()
        return package_fingerprint()

    found = [fingerprint()]
    (folder / "a.py").write_text("x = 1")
    found.append(fingerprint())
    (folder / "a.py").write_text("x = 2")
    found.append(fingerprint())
    (folder / "a.py").rename(folder.parent / "b.py")
    found.append(fingerprint())
    (folder.parent / "notes.txt").write_text("no code")
    assert fingerprint() == found[-1]
    assert len(set(found)) == 4
    package_fingerprint.cache_clear()


SOURCE = """
from dataclasses import dataclass
from veilmap.study.settings import RunSettings

STRENGTH = 1

@dataclass(frozen=True)
class Mine(RunSettings):
    pass
"""


@pytest.fixture
def foreign(tmp_path, monkeypatch):
    """A trial with an object whose class a module of the user's defines."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "mine_of_users.py"

    def made(source=SOURCE):
        file.write_text(source)
        importlib.invalidate_caches()
        sys.modules.pop("mine_of_users", None)
        module = importlib.import_module("mine_of_users")
        return replace(TRIAL, settings=module.Mine())

    yield made
    sys.modules.pop("mine_of_users", None)


def test_the_module_of_a_foreign_class_counts_too(foreign):
    own = code_of(TRIAL)
    first = code_of(foreign())
    assert len({own, first, code_of(foreign(SOURCE.replace("= 1", "= 2")))}) == 3
    assert code_of(foreign()) == first


def test_a_class_without_source_has_no_code():
    class Typed(RunSettings):
        pass

    Typed.__module__ = "typed_into_a_console"
    assert code_of(replace(TRIAL, settings=Typed())) is None


def test_what_decides_the_figures_but_the_code_does_not_change_it():
    assert code_of(TRIAL) == code_of(replace(TRIAL, configuration="another"))
