"""What ``tools/lock.py`` is made of: which line of the lock is for whom, and which wheel."""

import install
import pytest
from locking import checks
from locking.files import Pin, read, write
from locking.index import TORCH_FOR_CPUS, Wheel
from locking.targets import PYTHONS, SYSTEMS, TARGETS
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename

LINUX = next(each for each in TARGETS if str(each) == "Linux x86-64, Python 3.12")
WINDOWS = next(each for each in TARGETS if str(each) == "Windows x86-64, Python 3.13")


def wheel(name):
    return Wheel(parse_wheel_filename(name)[3], "0" * 64, f"https://index.test/{name}")


def test_the_targets_are_four_systems_with_four_pythons_each():
    assert len(SYSTEMS) == 4
    assert len(TARGETS) == len(set(map(str, TARGETS))) == 16


def test_the_installer_is_for_the_pythons_of_the_lock_and_asks_the_same_index():
    """It runs before anything is installed, and cannot import what these are in."""
    first, beyond = install.PYTHONS
    assert [f"3.{minor}" for minor in range(first[1], beyond[1])] == list(PYTHONS)
    assert f"{TORCH_FOR_CPUS}/torch/" == install.TORCH_FOR_CPUS


@pytest.mark.parametrize("lock", [install.PUBLIC, install.CPU])
def test_the_installer_finds_the_sizes_in_the_lock(lock):
    assert install.sizes(lock).startswith("Linux x86-64 ")


@pytest.mark.parametrize(
    ("line", "linux", "windows"),
    [
        ("a==1", True, True),
        ("a==1 ; sys_platform == 'linux'", True, False),
        ("a==1 ; platform_system == 'Windows'", False, True),
        ("a==1 ; python_full_version < '3.13'", True, False),
        ("a==1 ; platform_machine == 'AMD64' and implementation_name == 'cpython'", False, True),
    ],
)
def test_markers_are_read_as_on_the_target(line, linux, windows):
    requirement = Requirement(line)
    assert (LINUX.takes(requirement), WINDOWS.takes(requirement)) == (linux, windows)


def test_the_wheel_made_for_the_machine_comes_before_one_for_any():
    own, newer, other, anywhere = (
        wheel(f"a-1-{tags}.whl")
        for tags in (
            "cp312-cp312-manylinux2014_x86_64",
            "cp312-cp312-manylinux_2_34_x86_64",
            "cp313-cp313-manylinux2014_x86_64",
            "py3-none-any",
        )
    )
    assert LINUX.best([anywhere, newer, other, own]) is own
    assert LINUX.best([newer, other, anywhere]) is anywhere
    assert LINUX.best([newer, other]) is None


def test_an_old_stable_interface_serves_later_pythons():
    stable = wheel("a-1-cp39-abi3-win_amd64.whl")
    assert WINDOWS.best([stable]) is stable


def test_what_is_written_is_read_again(tmp_path):
    pins = [
        Pin(Requirement("b==2 ; sys_platform == 'linux'"), frozenset({"1" * 64, "2" * 64})),
        Pin(Requirement("a==1.0+cpu"), frozenset({"3" * 64})),
    ]
    write(tmp_path / "shared.txt", "# shared", pins)
    write(tmp_path / "all.txt", "# all\n-r shared.txt", [Pin(Requirement("c==3"), frozenset())])
    found = read(tmp_path / "all.txt")
    assert [str(pin) for pin in found] == [str(pin) for pin in [*reversed(pins), read_one("c==3")]]


def read_one(line):
    return Pin(Requirement(line), frozenset())


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A lock of one distribution, and an index whose wheels of it a test gives."""
    there = []
    lock = tmp_path / "locked.txt"
    write(lock, "", [Pin(Requirement("a==1 ; sys_platform == 'linux'"), frozenset({"0" * 64}))])
    monkeypatch.setattr(checks.taken, "__defaults__", (lock,))
    monkeypatch.setattr(checks, "wheels", lambda name, version: there)
    return there


def test_a_wheel_that_is_not_there_is_missing(index):
    assert list(checks.missing_files(LINUX)) == ["no wheel of a 1"]
    assert list(checks.missing_files(WINDOWS)) == []


def test_a_file_whose_hash_is_not_in_the_lock_is_missing(index):
    index.append(wheel("a-1-py3-none-any.whl"))
    assert list(checks.missing_files(LINUX)) == []
    index[0] = Wheel(index[0].tags, "f" * 64, index[0].url)
    assert list(checks.missing_files(LINUX)) == [
        "the hash of a-1-py3-none-any.whl is not in the lock"
    ]
