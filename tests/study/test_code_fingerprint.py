"""A cached result is of the code of today, or it is computed again."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial, wraps
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from torch import nn

import veilmap
from tests.experiments.making import make_trial
from tests.killing.commands import SPEC
from tests.sweeping.making import make_data
from veilmap import TorchMap
from veilmap.study import code_fingerprint
from veilmap.study.code_fingerprint import code_of, package_fingerprint
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
    assert "computed with other code; recomputed and replaced" in said
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
    folder = tmp_path / "package" / "study"
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


MINE = """
from dataclasses import dataclass
from veilmap.study.settings import RunSettings
{imports}

STRENGTH = 1

@dataclass(frozen=True)
class Mine(RunSettings):
    {field}
    def strength(self):
        return STRENGTH
"""


def mine(imports="", field="depth: int = 1"):
    return MINE.format(imports=imports, field=field)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """On the path of this process; what is imported from there is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # which would outlive a quick change
    yield tmp_path
    forget()


def forget():
    for name in [name for name in sys.modules if name.partition(".")[0].endswith("_of_users")]:
        del sys.modules[name]


def loaded(folder, module, **files):
    """The module, loaded again after these files were written: a__b is a/b.py."""
    for name, source in files.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
    forget()
    importlib.invalidate_caches()
    return importlib.import_module(module)


def hash_of(folder, module="mine_of_users", **files):
    return code_of(loaded(folder, module, **files).Mine())


def test_the_module_of_a_foreign_class_counts_too(folder):
    own = code_of(TRIAL.settings)
    first = hash_of(folder, mine_of_users=mine())
    changed = hash_of(folder, mine_of_users=mine().replace("STRENGTH = 1", "STRENGTH = 2"))
    assert None not in {own, first, changed}
    assert len({own, first, changed}) == 3
    assert hash_of(folder, mine_of_users=mine()) == first


@pytest.mark.parametrize(
    ("imports", "helper"),
    [
        ("import helper_of_users", "helper_of_users"),
        ("from helper_of_users.core import VALUE", "helper_of_users__core"),
        ("import os, helper_of_users.core as core", "helper_of_users__inner__core"),
        ("def later():\n    import helper_of_users", "helper_of_users"),
        ("import between_of_users", "helper_of_users"),
    ],
)
def test_what_a_module_imports_from_elsewhere_counts_too(folder, imports, helper):
    files = {
        "helper_of_users__core": "VALUE = 0",
        "between_of_users": "def later():\n    import helper_of_users",
        "mine_of_users": mine(imports),
    }
    first, second = (hash_of(folder, **files | {helper: f"VALUE = {v}"}) for v in (1, 2))
    assert None not in (first, second)
    assert first != second
    assert "helper_of_users.inner" not in sys.modules


def test_every_file_of_the_package_of_a_foreign_class_counts(folder):
    files = {"package_of_users__deep__mine": mine()}
    where = "package_of_users.deep.mine"
    first = hash_of(folder, where, **files)
    assert hash_of(folder, where, **files, package_of_users__other="VALUE = 1") != first


def test_a_package_that_is_installed_counts_whole_and_a_library_does_not(folder, monkeypatch):
    site = folder / "site-packages"
    monkeypatch.syspath_prepend(site)
    files = {"installed_of_users__mine": mine("import library_of_users")}
    where = "installed_of_users.mine"
    hashes = [
        hash_of(site, where, **files, installed_of_users__core=own, library_of_users=other)
        for own, other in (("A = 1", "B = 1"), ("A = 2", "B = 1"), ("A = 2", "B = 2"))
    ]
    assert hashes[0] != hashes[1] == hashes[2]


def test_a_file_counts_as_it_was_when_it_was_imported(folder):
    settings = loaded(folder, "mine_of_users", mine_of_users=mine()).Mine()
    first = code_of(settings)
    (folder / "mine_of_users.py").write_text(mine().replace("= 1", "= 2"))
    assert code_of(settings) == first


@pytest.fixture
def script(folder, monkeypatch):
    """Runs a script as Python does; its module."""

    def run(source):
        (folder / "script.py").write_text(source)
        forget()
        importlib.invalidate_caches()
        spec = spec_from_file_location("__main__", folder / "script.py")
        module = module_from_spec(spec)
        module.__spec__ = None
        monkeypatch.setitem(sys.modules, "__main__", module)
        spec.loader.exec_module(module)
        return module

    return run


def test_the_whole_file_of_a_script_counts(script):
    first, second = (code_of(script(mine() + f"OTHER = {value}").Mine()) for value in (1, 2))
    assert None not in (first, second)
    assert first != second


def test_the_helpers_that_a_script_imports_count(script, folder):
    hashes = []
    for value in (1, 2):
        (folder / "helper_of_users.py").write_text(f"VALUE = {value}")
        hashes.append(code_of(script(mine("import helper_of_users")).Mine()))
    assert hashes[0] != hashes[1]


def test_a_notebook_has_no_code(script):
    module = script(mine())
    del module.__file__
    assert code_of(module.Mine()) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda script: setattr(script, "STRENGTH", 2),
        lambda script: setattr(script, "STRENGTH", (1, 2)),
        lambda script: setattr(script, "STRENGTH", script.dataclass),
        lambda script: setattr(script.Mine, "depth", 2),
        lambda script: setattr(script.Mine.strength, "__defaults__", (2,)),
    ],
    ids=["number", "tuple", "function", "attribute", "default"],
)
def test_a_variable_that_a_script_changes_counts(script, change):
    module = script(mine())
    first = code_of(module.Mine())
    change(module)
    assert code_of(module.Mine()) not in (None, first)


def test_a_variable_of_another_function_of_the_script_counts(script):
    module = script(mine().replace("return STRENGTH", "return [inner() for _ in 'a']") + INNER)
    first = code_of(module.Mine())
    module.STRENGTH = 2
    assert code_of(module.Mine()) not in (None, first)


NETS = """
from torch import nn

WIDTH = 4

class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(2, WIDTH)

class Net(Base):
    pass
"""


def test_a_variable_of_the_base_of_a_module_in_a_script_counts(script):
    module = script(NETS)
    first = by_torch(module.Net).code
    module.WIDTH = 8
    assert None not in (first, by_torch(module.Net).code)
    assert by_torch(module.Net).code != first


INNER = """
def inner():
    return outer()

def outer():
    return STRENGTH + inner()
"""


def test_a_variable_of_a_script_that_cannot_be_identified_has_no_code(script):
    module = script(mine())
    module.STRENGTH = [1]
    assert code_of(module.Mine()) is None


def test_a_variable_of_a_module_is_what_its_source_says(folder):
    assert hash_of(folder, mine_of_users=mine().replace("STRENGTH = 1", "STRENGTH = [1]"))


def test_a_class_without_source_has_no_code():
    class Typed(RunSettings):
        pass

    assert code_of(Typed()) is None
    Typed.__module__ = "typed_into_a_console"
    assert code_of(Typed()) is None


def of_width(width=4):
    return nn.Linear(2, width)


class Factory:
    def __call__(self):
        return nn.Linear(2, 1)

    def make(self):
        return nn.Linear(2, 1)


def of_four():
    return of_width()


def widened(width):
    return lambda make: wraps(make)(lambda: make(width))


@widened(8)
def of_eight(width):
    return of_width(width)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(2, 1),
        partial(of_width, 1),
        Factory(),
        Factory().make,
        of_eight,
    ],
    ids=["lambda", "partial", "object", "method", "wrapped"],
)
def test_a_function_that_is_not_importable_has_no_code_and_a_digest_of_its_own(make):
    trial, other = (by_torch(function) for function in (make, lambda: nn.Linear(2, 2)))
    assert trial.code is None
    assert trial.digest(DATA) != other.digest(DATA)
    assert trial.digest(DATA) == by_torch(make).digest(DATA)


def by_torch(make):
    return make_trial(DATA, (TorchMap(make, label="net"),))


def test_functions_of_one_label_have_code_and_digests_of_their_own():
    trials = [by_torch(make) for make in (of_width, of_four, nn.Identity)]
    assert len({trial.code for trial in trials} - {None}) == 3
    assert len({trial.digest(DATA) for trial in trials}) == 3


def test_the_defaults_of_a_function_count(monkeypatch):
    first = by_torch(of_width).code
    monkeypatch.setattr(of_width, "__defaults__", (8,))
    assert by_torch(of_width).code not in (None, first)


def test_what_decides_the_figures_but_the_code_does_not_change_it():
    assert TRIAL.code == replace(TRIAL, configuration="another").code
