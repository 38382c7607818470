"""What is published: the wheel has all that the package needs, and the sdist builds the same."""

import subprocess
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]


def built(builder, root, folder):
    (file,) = builder(str(root)).build(directory=str(folder), versions=["standard"])
    return Path(file)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(WheelBuilder, ROOT, tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_every_file_of_the_package(wheel):
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone, and git cannot say which files belong to the package")
    command = ["git", "ls-files", "src/veilmap"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    wanted = {line.removeprefix("src/") for line in listed.stdout.splitlines()}
    held = set(ZipFile(wheel).namelist())
    assert wanted - held == set()
    for kind in (".js", ".css", ".jinja", ".toml"):
        assert any(name.endswith(kind) for name in held), kind


def test_the_sdist_builds_the_same_wheel(wheel, tmp_path):
    with tarfile.open(built(SdistBuilder, ROOT, tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = (path for path in tmp_path.iterdir() if path.is_dir())
    again = built(WheelBuilder, source, tmp_path / "again")
    assert again.read_bytes() == wheel.read_bytes()
