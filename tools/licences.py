"""Write ``docs/licences.md``: the licence of everything that ``make`` installs.

python tools/licences.py
"""

from email.parser import HeaderParser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from urllib.request import urlopen

from locking.files import CPU, read
from locking.index import wheels

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
not shipped with it. Below is all that `make` installs, with the dependencies of dependencies and
the tools; made by `python tools/licences.py`, which reads what each distribution says of itself:
some say BSD or Apache and not which.

On Linux the public build of torch also brings NVIDIA's libraries, under NVIDIA's own licences:
`locked.txt` names them, and the build for CPUs does without (`locked-cpu.txt`).

| distribution | version | licence |
| --- | --- | --- |
"""


def main():
    PAGE.write_text(HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows()))


def rows():
    pins = sorted(read(CPU), key=lambda pin: pin.name)
    return [(pin.name, pin.version, licence(pin)) for pin in pins]


def licence(pin):
    name, about = pin.name, described(pin)
    if name in SILENT:
        return SILENT[name]
    if expression := about.get("License-Expression"):
        return expression
    kinds = [each.removeprefix("License :: ") for each in about.get_all("Classifier") or []]
    kinds = [each for each in kinds if each.startswith("OSI Approved :: ")]
    words = [each.removeprefix("OSI Approved :: ") for each in kinds]
    text = (about.get("License") or "").strip().splitlines()[:1]
    return " AND ".join(sorted({SPDX.get(each, each) for each in (words or text)}))


def described(pin):
    """What a distribution says of itself; one for other systems is asked for on the index."""
    try:
        return metadata(pin.name)
    except PackageNotFoundError:
        wheel = wheels(pin.name, pin.version)[0]
        with urlopen(f"{wheel.url}.metadata") as answer:
            return HeaderParser().parsestr(answer.read().decode())


if __name__ == "__main__":
    main()
