"""The same property under atheris, which steers by the code that a case reaches.

Not a test, and atheris is no dependency: it wants instrumented code and hours. To run it::

    python3.11 -m venv /tmp/atheris && /tmp/atheris/bin/pip install atheris '.[flower]'
    /tmp/atheris/bin/python -m tests.fuzz.guided geosubmit.json -max_total_time=600

The first argument is one of our kinds of files; the others are libFuzzer's. It begins with a sound
file of that kind, and stops at the first case that is neither read nor refused in a sentence.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=["veilmap", "zipfile", "tarfile", "gzip", "tomllib", "json"]
):
    from tests.fuzz.guard import read_or_refuse
    from tests.fuzz.measurement_files import KINDS
    from tests.fuzz.records import RECORDS
    from veilmap.sources import read


def main() -> None:
    """Fuzz one kind of file until libFuzzer's limit."""
    name, folder = sys.argv.pop(1), Path(tempfile.mkdtemp())
    file, seeds = folder / name, folder / "sound"
    for place in (file.parent, seeds):
        place.mkdir(exist_ok=True)
    kind = KINDS.get(name) or RECORDS[name]
    reader = read if name in KINDS else RECORDS[name].read
    if name in RECORDS:
        RECORDS[name].beside(file.parent)
    (seeds / "sound").write_bytes(kind.pack(kind.inside))

    def one(content: bytes) -> None:
        file.write_bytes(content)
        read_or_refuse(reader, file)

    atheris.Setup([*sys.argv, str(seeds)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
