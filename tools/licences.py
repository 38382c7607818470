"""Write ``docs/licences.md``: the licence of everything that ``locked.txt`` installs.

python tools/licences.py
"""

import re
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
# What a distribution says in words → SPDX.
SPDX = {
    "MIT License": "MIT",
    "MIT license": "MIT",
    "The MIT License": "MIT",
    "OSI Approved :: MIT License": "MIT",
    "MIT": "MIT",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache",
    "BSD License": "BSD",
    "BSD 3-Clause License": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "ISC License (ISCL)": "ISC",
    "The Unlicense (Unlicense)": "Unlicense",
}
# What says nothing of its licence in its metadata → the LICENSE file in its wheel.
SILENT = {"prv-accountant": "MIT"}
HEAD = """\
# Licences

veilmap is under Apache-2.0 (`LICENSE`). Its wheel holds Leaflet 1.9.4 (BSD-2-Clause), whose files,
source and checksums stand in `vendored.json` beside them; everything else is installed by pip and
not shipped with it. Below is all that CI installs, with the dependencies of dependencies and the
tools; made by `python tools/licences.py`, which reads what each distribution says of itself:
some say BSD or Apache and not which.

| distribution | version | licence |
| --- | --- | --- |
"""


def main():
    PAGE.write_text(HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows()))


def rows():
    pins = re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "locked.txt").read_text(), re.MULTILINE)
    return [(name, version, licence(name)) for name, version in pins]


def licence(name):
    about = metadata(name)
    if name in SILENT:
        return SILENT[name]
    if expression := about.get("License-Expression"):
        return expression
    kinds = [each.removeprefix("License :: ") for each in about.get_all("Classifier") or []]
    kinds = [each for each in kinds if each.startswith("OSI Approved :: ")]
    words = [each.removeprefix("OSI Approved :: ") for each in kinds]
    text = (about.get("License") or "").strip().splitlines()[:1]
    return " AND ".join(sorted({SPDX.get(each, each) for each in (words or text)}))


if __name__ == "__main__":
    main()
