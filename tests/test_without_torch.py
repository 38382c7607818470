"""The core works where torch is not installed; what needs torch says in one line how to get it."""

import json
import os
import subprocess
import sys

import pytest

from tests.cli.test_audit import QUICK
from tests.cli.test_cli import run

pytestmark = pytest.mark.processes

# Python runs a module of this name before anything else.
NO_TORCH = """
import sys


class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")


sys.meta_path.insert(0, NoTorch())
"""
# Imports every module; prints those that cannot be without torch.
WALK = """
import importlib, pkgutil, veilmap
for module in pkgutil.walk_packages(veilmap.__path__, "veilmap."):
    try:
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    except ModuleNotFoundError as error:
        assert error.name == "torch", error
        print(module.name)
"""
COMPUTING = (
    "veilmap.attacks.", "veilmap.defences.obfuscation.", "veilmap.federation.reference",
    "veilmap.maps.torch_map", "veilmap.maps.torch_modules",
    "veilmap.model.",
)  # fmt: skip


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Call Python with some words, and without torch."""
    folder = tmp_path_factory.mktemp("no torch")
    (folder / "sitecustomize.py").write_text(NO_TORCH)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def call(*words, code=0):
        done = subprocess.run(
            [sys.executable, *map(str, words)], env=environment, capture_output=True, text=True
        )
        assert done.returncode == code, done.stderr
        return done

    return call


@pytest.fixture(scope="module")
def veilmap(python):
    return lambda *words, code=0: python("-m", "veilmap", *words, code=code)


def test_only_what_computes_with_the_network_needs_torch_to_be_imported(python):
    needing = python("-c", WALK).stdout.split()
    assert "veilmap.model.training" in needing
    assert [name for name in needing if not name.startswith(COMPUTING)] == []


def test_help_simulate_inspect_and_stitch_work(veilmap, tmp_path):
    assert "audit" in veilmap("--help").stdout
    campus, logs = tmp_path / "campus.parquet", tmp_path / "logs.zip"
    veilmap("simulate", "campus", "--users", 2, "--days", 3, "--out", campus)
    assert "format    Parquet" in veilmap("inspect", campus, "--plot", tmp_path / "pictures").stdout
    veilmap("simulate", "london", "--out", logs)
    veilmap("stitch", logs, "--timezone", "Europe/London", "--out", tmp_path / "users.parquet")


NETWORK = ("--map", "network", "--hidden", "8", "--activations", "tanh", "--dropout", "0")


@pytest.mark.parametrize("options", [(), NETWORK], ids=["kriging", "network"])
def test_the_map_of_a_stored_run_is_the_same(veilmap, capsys, little_file, tmp_path, options):
    run(capsys, "train", little_file, *options, "--out", tmp_path / "run")
    run(capsys, "map", tmp_path / "run", "--out", tmp_path / "with.tif")
    veilmap("map", tmp_path / "run", "--out", tmp_path / "without.tif")
    assert (tmp_path / "with.tif").read_bytes() == (tmp_path / "without.tif").read_bytes()


def test_a_finished_audit_is_shown_again(veilmap, capsys, little_file, tmp_path):
    words = ["audit", little_file, "--out", tmp_path / "audit", *QUICK]
    run(capsys, *words)
    report, results = tmp_path / "audit" / "report.html", tmp_path / "audit" / "results.json"
    before = json.loads(results.read_text())
    report.unlink()
    veilmap(*words)
    assert report.stat().st_size > 10_000
    assert json.loads(results.read_text())["rows"] == before["rows"]


@pytest.mark.parametrize(
    "words",
    [
        ["train", "there-is-no-such-file.csv", "--map", "network"],
        ["tune", "campus", "--trials", "1"],
        ["audit", "campus"],
        ["sweep", "sweep.toml", "--seeds", "1"],
    ],
    ids=lambda words: words[0],
)
def test_what_needs_torch_says_which_extra_to_install(veilmap, tmp_path, words, little_file):
    (tmp_path / "sweep.toml").write_text(SWEEP)
    words = [str(tmp_path / word) if word == "sweep.toml" else word for word in words]
    words = [str(little_file) if word == "campus" else word for word in words]
    done = veilmap(*words, "--out", tmp_path / "out", code=2)
    assert "pip install 'veilmap[network]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


SWEEP = """
title = "One run"

[data]
source = "campus"

[[runs]]
name = "plain"
configuration = "fedsgd"
"""
