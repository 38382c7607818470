"""Upload rows written as Radiocells (openBmap) upload files, one XML file per upload.

Cell "x455" becomes id 455 of one made-up network; a reader of such files calls it "234-10-455".
Height, heading and speed are written as zero, because upload rows do not have them. The two fixes
of a scan, begin and end, are the same, so that every reader finds the same position.
"""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import polars as pl

from veilmap.errors import UserError, shown
from veilmap.files import write_whole, writing
from veilmap.sources.radiocells import DEVICE

MCC, MNC, LAC = 234, 10, 1
ZIP = ".zip"
_UNIX = 3
# Android's signal level, ASU, is RSRP plus this.
_ASU_OF_0_DBM = 140
_FIX = '  <gps time="{}" lng="{}" lat="{}" alt="0.0" hdg="0.0" spe="0.0" accuracy="{}" type='
_SERVING = (
    f'  <gsmserving mcc="{MCC}" mnc="{MNC}" lac="{LAC}" id="{{}}" act_id="{{}}" rnc="-1" '
    'psc="-1" ss="{}" act="LTE" rxlev="{}"/>'
)


def write_upload_files(rows: pl.DataFrame, out: Path, *, timezone: str) -> int:
    """Write the files into a new folder, or a zip if ``out`` ends in .zip; returns their number.

    The same rows give the same bytes. ``rows`` has file (its name), the five columns of the device,
    cell, time, lat_deg, lon_deg, rsrp_dbm and accuracy_m; times are written by the clock of
    ``timezone``.

    Raises:
        UserError: the place is taken or cannot be written, or a cell has no number.
    """
    files = dict(_files(rows, timezone))
    write = _write_zip if out.suffix == ZIP else _write_folder
    write(files, out)
    return len(files)


def _files(rows: pl.DataFrame, timezone: str) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file, in the order of names; scans in the order of time."""
    texts = rows.sort("file", "time").select("file", *DEVICE, scan=_scan(rows, timezone))
    by_file = texts.group_by("file", maintain_order=True)
    for row in by_file.agg(pl.col(*DEVICE).first(), "scan").iter_rows(named=True):
        device = " ".join(f"{name}={quoteattr(row[name])}" for name in DEVICE)
        start = f"<logfile {device} exportver={quoteattr(row['swver'])}>"
        lines = ['<?xml version="1.0" encoding="UTF-8" ?>', start, *row["scan"], "</logfile>\n"]
        yield row["file"], "\n".join(lines).encode()


def _scan(rows: pl.DataFrame, timezone: str) -> pl.Expr:
    time = pl.col("time").dt.convert_time_zone(timezone).dt.to_string("%Y%m%d%H%M%S")
    fix = pl.format(_FIX, time, "lon_deg", "lat_deg", "accuracy_m")
    number, dbm = _cell_number(rows["cell"]), pl.col("rsrp_dbm").cast(pl.Int64)
    serving = pl.format(_SERVING, number, number, dbm, dbm + _ASU_OF_0_DBM)
    scan = '<scan time="{}">\n{}"begin" />\n{}\n{}"end" />\n</scan>'
    return pl.format(scan, time, fix, serving, fix)


def _cell_number(cells: pl.Series) -> pl.Expr:
    wrong = cells.filter(~cells.str.contains(r"^x?\d+$"))
    if len(wrong):
        raise UserError(
            f"upload files name a cell by a number; give cells like x455, got {shown(wrong[0])}"
        )
    return pl.col("cell").str.strip_prefix("x")


def _write_zip(files: dict[str, bytes], out: Path) -> None:
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in files.items():
            entry = ZipInfo(name)  # dated 1980, whenever it is written
            entry.compress_type, entry.create_system = ZIP_DEFLATED, _UNIX
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    write_whole(out, packed.getvalue())


def _write_folder(files: dict[str, bytes], out: Path) -> None:
    """Under a temporary name first, so that a folder is whole or not there."""
    if out.exists():
        raise UserError(f"{out} already exists; choose a new folder")
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as part:
            whole = Path(part) / out.name
            whole.mkdir()
            for name, content in files.items():
                (whole / name).write_bytes(content)
            whole.rename(out)
