"""Write ``locked.txt``: every distribution that CI installs, at one version, with its hashes.

    python tools/lock.py

pip resolves the project with all its extras and its build backend under ``constraints.txt``. The
hashes are those of all wheels of a version on the public index, so that other machines and other
versions of Python find theirs, and that of the wheel which pip took here. Of torch that must be the
build for CPUs (2.13.0+cpu): the public one for Linux brings gigabytes for GPUs.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
LOCKED = ROOT / "locked.txt"
INDEX = "https://pypi.org/simple"
# What an editable install without build isolation needs besides the project's own dependencies.
BACKEND = ("hatchling", "editables")
HEAD = """\
# The exact files with which veilmap is tested, by version and hash; for the make targets and CI.
# Made from pyproject.toml and constraints.txt; to make it again: python tools/lock.py
"""


def main():
    found = [each for each in resolved() if each["metadata"]["name"] != "veilmap"]
    with ThreadPoolExecutor(8) as pool:
        entries = sorted(pool.map(entry, found))
    LOCKED.write_text(HEAD + "".join(entries))
    print(f"{LOCKED.name}: {len(entries)} distributions")


def resolved():
    """What pip would install, and from where."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
            "--only-binary", ":all:", "--constraint", ROOT / "constraints.txt", "--report", report,
            f"{ROOT}[dev]", *BACKEND,
        ]  # fmt: skip
        subprocess.run(command, check=True)
        return json.loads(report.read_text())["install"]


def entry(found):
    name = re.sub(r"[-_.]+", "-", found["metadata"]["name"]).lower()
    version, _, build = found["metadata"]["version"].partition("+")
    public = public_wheels(name, version)
    if build:
        # pip would take the public build for Linux before ours, and that needs others again.
        public = {file: digest for file, digest in public.items() if "linux" not in file}
    taken = found["download_info"]["archive_info"]["hashes"]["sha256"]
    lines = "".join(f" \\\n    --hash=sha256:{each}" for each in sorted({*public.values(), taken}))
    return f"{name}=={version}{lines}\n"


def public_wheels(name, version):
    """File → hash of all wheels of the version."""
    with urlopen(f"{INDEX}/{name}/") as page:
        text = page.read().decode()
    links = re.findall(r'href="[^"#]*/([^"#/]+\.whl)#sha256=([0-9a-f]{64})"', text)
    return {file: digest for file, digest in links if file.split("-")[1] == version}


if __name__ == "__main__":
    main()
