"""A small valid file of every kind that ``veilmap.read`` takes."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from tests.sources import fakes

CSV = b"""user,cell,time,lat,lon,rsrp,accuracy
u0,a,2024-01-01 10:00:00,51.5,-0.1,-90,5.0
u1,b,2024-01-01 10:10:00,51.501,-0.101,-91.5,
u0,a,2024-01-01 10:20:00,51.502,-0.102,-92,12
"""


def same(content: bytes) -> bytes:
    return content


@dataclass(frozen=True)
class Kind:
    """What is inside, and how it is packed; both may be damaged."""

    inside: bytes
    pack: Callable[[bytes], bytes] = same


def _zip(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", content)
        archive.writestr("b.json", _OTHER)
    return packed.getvalue()


def _tar(content: bytes, mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name, each in (("a.json", content), ("b.json", _OTHER)):
            info = tarfile.TarInfo(name)
            info.size = len(each)
            archive.addfile(info, io.BytesIO(each))
    return packed.getvalue()


def _parquet(content: bytes) -> bytes:
    """The table that polars makes of a damaged CSV, where it makes one."""
    try:
        table = pl.read_csv(content, ignore_errors=True, truncate_ragged_lines=True)
    except (pl.exceptions.PolarsError, OSError):  # what looks packed is no file
        table = pl.read_csv(CSV)
    packed = io.BytesIO()
    table.write_parquet(packed)
    return packed.getvalue()


_GEOSUBMIT = fakes.geosubmit(1)
_OTHER = fakes.geosubmit(1, tower={"cellId": 7})

KINDS = {
    "plain.csv": Kind(CSV),
    "opencellid.csv": Kind(fakes.opencellid(2)),
    "gnettrack.txt": Kind(fakes.gnettrack(2)),
    "cork.csv": Kind(fakes.cork(2)),
    "towercollector.csv": Kind(fakes.towercollector({}, {"net_type": "GSM"})),
    "radiocells.xml": Kind(fakes.radiocells(2)),
    "geosubmit.json": Kind(fakes.geosubmit(2)),
    "packed.csv.gz": Kind(CSV, lambda content: gzip.compress(content, mtime=0)),
    "uploads.zip": Kind(_GEOSUBMIT, _zip),
    "uploads.tar": Kind(_GEOSUBMIT, _tar),
    "uploads.tgz": Kind(_GEOSUBMIT, lambda content: gzip.compress(_tar(content), mtime=0)),
    "table.parquet": Kind(CSV, _parquet),
}
