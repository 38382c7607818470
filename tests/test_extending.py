"""The package of docs/extending.md: its files stand in the page, and it is used by its names."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from contextlib import chdir
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.cli.test_cli import run
from tests.study.foreign_attacks import install
from veilmap import methods
from veilmap.errors import UserError
from veilmap.study.step_notation import step_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tests" / "foreign_package"
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
FILES = sorted((PACKAGE / "veilmap_example").glob("[!_]*.py"))
MOST_LINES = 30
LAYERS = ("--hidden", "8", "--activations", "relu", "--dropout", "0")
DAILY = ("--interval", "1d")
SMALL = (*DAILY, "--map", "network", *LAYERS)
SNAP = "snap:side_m=50"
SPEC = """
title = "Squares"
[settings]
interval = "1d"
hidden = [8]
activations = ["relu"]
dropout = [0.0]
[attacks]
method = ["middle:east_m=100", "search"]
[[runs]]
name = "snap"
configuration = "fedavg + snap:side_m={side_m}"
over.side_m = [50, 200]
"""
AUDIT = """
found = veilmap.audit(
    data, configurations=[Snap(50), Snap(90)], method=["search", Middle()], seeds=1, interval="1d"
)
print(found.as_json()["failed"], list(dict.fromkeys(row.attack for row in found.content.rows)))
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_method_is_one_file_of_few_lines_which_the_page_shows(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert text in blocks("python")
    assert len(list(PACKAGE.rglob(f"*{file.stem}*"))) == 1


def test_the_page_registers_what_the_package_does():
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (block,) = blocks("toml")
    assert tomllib.loads(block)["project"]["entry-points"] == project["entry-points"]
    registered = {name for group in project["entry-points"].values() for name in group}
    assert registered == {file.stem for file in FILES}


def test_the_page_runs_from_top_to_bottom(little_file, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # a page that is no module has no workers
    write_page(little_file, tmp_path)
    with chdir(tmp_path):
        runpy.run_path("page.py")
    said = capsys.readouterr().out.split()
    assert said[::2] == ["search", "middle:east_m=0", "rings"]


@pytest.mark.processes
def test_workers_take_the_classes_of_a_script(little_file, tmp_path):
    write_page(little_file, tmp_path, AUDIT)
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env={**os.environ, "LOKY_MAX_CPU_COUNT": "2"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == "{} ['search', 'middle:east_m=0']"


def write_page(little_file, folder, more=""):
    shutil.copy(little_file, folder / "measurements.parquet")
    (folder / "page.py").write_text("\n".join([*blocks("python"), more]))


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package on the path of this process, as an installer leaves it."""
    (wheel,) = WheelBuilder(str(PACKAGE)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")


def steps(file, folder):
    """Through all commands by name alone; and what must come of each."""
    spec = folder / "squares.toml"
    spec.write_text(SPEC)
    one = ("--jobs", "1", "--seeds", "1")
    snapped, rings = folder / "run", folder / "rings"
    return [
        ("methods", (), "The mean signal by distance from the area's middle"),
        ("train", (file, *SMALL, "--defence", SNAP, "--out", snapped), SNAP),
        ("attack", (snapped, "--method", "search,middle:east_m=100"), "middle:east_m=100"),
        ("train", (file, *DAILY, "--map", "rings:width=25", "--out", rings), "rings:width_m=25"),
        ("attack", (rings, "--method", "middle"), "rings:width_m=25"),
        ("attack", (rings, "--method", "learned:people=20", "--overwrite"), "learned"),
        ("map", (rings, "--format", "png"), "wrote"),
        ("audit", (file, *SMALL, *one, "--configurations", "fedavg", "fedavg + snap:side=50",
            "rings:width_m=25 + snap", "--method", "middle", "--out", folder / "audit"),
            "rings:width_m=25 + snap:side_m=100"),
        ("sweep", (spec, "--data", file, *one, "--out", folder / "sweep"), "middle:east_m=100"),
    ]  # fmt: skip


def assert_is_everywhere(folder):
    settings = json.loads((folder / "run" / "settings.json").read_text())
    assert settings["protection"]["defence"] == [SNAP]
    rows = json.loads((folder / "run" / "attack" / "results.json").read_text())["rows"]
    assert [row["attack"] for row in rows] == ["search", "middle:east_m=100"]
    assert '"fedavg + snap:side_m=50"' in (folder / "audit" / "report.html").read_text()
    assert '"rings:width_m=25 + snap:side_m=100"' in (folder / "audit" / "report.html").read_text()
    assert (folder / "sweep" / "frontier.png").exists()


def test_its_methods_are_used_by_name_in_every_command(
    installed, little_file, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("veilmap.cli.console.stdout.width", 120)  # names are not folded
    for command, arguments, said in steps(little_file, tmp_path):
        out, _ = run(capsys, command, *arguments)
        assert said in " ".join(out.split()), command
    assert_is_everywhere(tmp_path)


def test_a_name_that_two_packages_register_is_refused(installed, tmp_path):
    assert {each.name for each in methods() if each.package} == {file.stem for file in FILES}
    install(tmp_path / "site", "veilmap.defences", snap="tests.study.foreign_steps:First")
    with pytest.raises(UserError, match="'snap' is registered by strange and veilmap-example; uni"):
        step_of("snap")


@pytest.mark.processes
def test_pip_installs_it_and_every_command_finds_it(little_file, tmp_path):
    pip = ("pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet",
        "--target", tmp_path / "site", PACKAGE)  # fmt: skip
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])

    def python(*words):
        command = [sys.executable, "-m", *map(str, words)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "120"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    python(*pip)
    for command, arguments, said in steps(little_file, tmp_path):
        assert said in " ".join(python("veilmap", command, *arguments).split()), command
    assert_is_everywhere(tmp_path)
