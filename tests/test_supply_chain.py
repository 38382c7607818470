"""Everything from elsewhere is known: by version, by hash, by licence."""

import json
import re
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parents[1]
VENDOR = ROOT / "src" / "veilmap" / "report" / "page" / "assets" / "vendor"
# Those that let Apache-2.0 software depend on them; MPL-2.0 binds its own files alone.
ALLOWED = {
    "0BSD", "Apache", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0",
    "ISC", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib", "LLVM-exception",
}  # fmt: skip


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file):
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (ROOT / file).read_text(), re.MULTILINE)
    return {canonical(name): version for name, version in found}


def listed():
    page = (ROOT / "docs" / "licences.md").read_text()
    return {
        name: rest for name, *rest in re.findall(r"^\| (\S+) \| (\d\S*) \| (.*) \|$", page, re.M)
    }


def test_every_locked_file_has_a_hash():
    entries = re.split(r"(?<!\\)\n", (ROOT / "locked.txt").read_text())
    for entry in entries:
        if entry and not entry.startswith("#"):
            assert re.fullmatch(r"\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+", entry), entry[
                :80
            ]


def test_the_lock_holds_the_constraints_and_the_build_backend():
    locked, constraints = pins("locked.txt"), pins("constraints.txt")
    assert {name: locked.get(name) for name in constraints} == constraints
    assert {"hatchling", "editables"} <= set(locked)


def test_every_locked_distribution_has_a_row_with_its_version():
    assert {name: version for name, (version, _) in listed().items()} == pins("locked.txt")


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
