"""Everything from elsewhere is known: by version, by hash, by licence."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VENDOR = ROOT / "src" / "veilmap" / "report" / "page" / "assets" / "vendor"
# Those that let Apache-2.0 software depend on them; MPL-2.0 binds its own files alone.
ALLOWED = {
    "0BSD", "Apache", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib", "LLVM-exception",
}  # fmt: skip


def entries(file):
    """The requirements of a file of the lock, with those of the file that it names."""
    for entry in re.split(r"(?<!\\)\n", (ROOT / file).read_text()):
        if entry.startswith("-r "):
            yield from entries(entry.removeprefix("-r "))
        elif entry and not entry.startswith("#"):
            yield entry


def pins(file):
    return dict(re.match(r"(\S+)==(\S+)", entry).groups() for entry in entries(file))


def listed():
    page = (ROOT / "docs" / "licences.md").read_text()
    return {
        name: rest for name, *rest in re.findall(r"^\| (\S+) \| (\d\S*) \| (.*) \|$", page, re.M)
    }


@pytest.mark.parametrize("file", ["locked.txt", "locked-cpu.txt"])
def test_every_locked_distribution_has_a_version_and_hashes(file):
    for entry in entries(file):
        line = r"\S+==\S+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+"
        assert re.fullmatch(line, entry), entry[:80]


@pytest.mark.parametrize("file", ["locked.txt", "locked-cpu.txt"])
def test_the_lock_holds_torch_and_the_build_backend(file):
    assert {"torch", "hatchling", "editables"} <= set(pins(file))


def test_the_lock_for_cpus_names_nothing_for_gpus():
    only = set(pins("locked.txt")) - set(pins("locked-cpu.txt"))
    assert only
    assert all(name.startswith(("cuda-", "nvidia-", "triton")) for name in only)


def test_every_locked_distribution_has_a_row_with_its_version():
    assert {name: version for name, (version, _) in listed().items()} == pins("locked-cpu.txt")


def test_all_licences_are_known_ones():
    for name, (_, licence) in listed().items():
        parts = set(re.split(r" AND | OR | WITH ", licence))
        assert parts <= ALLOWED, f"{name}: {licence}"


def test_what_is_vendored_is_what_was_published():
    known = json.loads((VENDOR / "vendored.json").read_text())
    found = {
        folder.name: {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
        for folder in VENDOR.iterdir()
        if folder.is_dir()
    }
    assert found == {name: about["sha256"] for name, about in known.items()}
    assert all(about["licence"] in ALLOWED and about["version"] for about in known.values())


def test_nothing_is_vendored_elsewhere():
    """Minified code would have lines far longer than ours."""
    scripts = [
        path
        for kind in ("js", "css")
        for path in (ROOT / "src").rglob(f"*.{kind}")
        if VENDOR not in path.parents
    ]
    assert scripts
    assert all(max(map(len, path.read_text().splitlines())) < 300 for path in scripts)
