import xml.etree.ElementTree as ElementTree  # noqa: TID251 - of our own file
import zipfile
from datetime import datetime
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from veilmap.errors import UserError
from veilmap.sources import london
from veilmap.sources.radiocells_xml import write_upload_files

LONDON = "Europe/London"


@pytest.fixture(scope="module")
def rows():
    """The first and the last files of the world, in winter and in summer."""
    everything = london.uploads(0)
    names = everything["file"].unique().sort()
    return everything.filter(pl.col("file").is_in([*names[:20], *names[-20:]]))


def read(content):
    """The device and the rows of one file, by the plainest possible reader."""
    log = ElementTree.fromstring(content)  # noqa: S314, our own file
    found = []
    for scan in log.iter("scan"):
        begin, serving, end = scan
        assert [begin.get("type"), end.get("type")] == ["begin", "end"]
        assert {**begin.attrib, "type": ""} == {**end.attrib, "type": ""}
        local = datetime.strptime(scan.get("time"), "%Y%m%d%H%M%S").replace(tzinfo=ZoneInfo(LONDON))
        assert serving.get("act") == "LTE"
        found.append((f"x{serving.get('id')}", local.timestamp(), float(begin.get("lat")),
                      float(begin.get("lng")), float(serving.get("ss")),
                      float(begin.get("accuracy"))))  # fmt: skip
    return log.attrib, found


def test_what_is_written_is_what_was_given(rows, tmp_path):
    assert write_upload_files(rows, tmp_path / "out", timezone=LONDON) == 40
    columns = ["cell", "second", "lat_deg", "lon_deg", "rsrp_dbm", "accuracy_m"]
    timed = rows.with_columns(second=pl.col("time").dt.epoch("s"))
    for (file,), group in timed.group_by("file"):
        device, found = read((tmp_path / "out" / file).read_bytes())
        assert found == group.sort("time").select(columns).rows()
        assert device["exportver"] == device["swver"] == group["swver"][0]
        assert device["model"] == group["model"][0]


def test_summer_times_are_written_by_the_local_clock(rows, tmp_path):
    first = rows.head(1)
    summer = first.with_columns(time=pl.lit(datetime(2017, 7, 1, 23, 30, tzinfo=ZoneInfo("UTC"))))
    write_upload_files(summer, tmp_path / "out", timezone=LONDON)
    assert '<scan time="20170702003000">' in (tmp_path / "out" / first["file"][0]).read_text()


def test_device_texts_are_escaped(rows, tmp_path):
    odd = rows.head(1).with_columns(model=pl.lit("<A&B \"9'>"))
    write_upload_files(odd, tmp_path / "out", timezone=LONDON)
    device, _ = read((tmp_path / "out" / odd["file"][0]).read_bytes())
    assert device["model"] == "<A&B \"9'>"


def test_the_same_rows_give_the_same_zip_and_it_holds_the_files_of_the_folder(rows, tmp_path):
    one, other = tmp_path / "one.zip", tmp_path / "other.zip"
    write_upload_files(rows, one, timezone=LONDON)
    write_upload_files(rows.reverse(), other, timezone=LONDON)
    assert one.read_bytes() == other.read_bytes()
    write_upload_files(rows, tmp_path / "out", timezone=LONDON)
    with zipfile.ZipFile(one) as archive:
        assert archive.testzip() is None
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}


def test_a_taken_folder_and_a_cell_without_a_number_are_refused(rows, tmp_path):
    with pytest.raises(UserError, match="already exists; choose a new folder"):
        write_upload_files(rows, tmp_path, timezone=LONDON)
    named = rows.with_columns(cell=pl.lit("north"))
    with pytest.raises(UserError, match="give cells like x455, got 'north'"):
        write_upload_files(named, tmp_path / "out", timezone=LONDON)
    assert list(tmp_path.iterdir()) == []
