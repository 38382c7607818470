"""Files made to exhaust memory or time; what they may take is measured where it is not plain."""

import tarfile
import tracemalloc
import zipfile

import pytest

from tests.sources import fakes
from veilmap.errors import UserError
from veilmap.sources import containers, geosubmit, radiocells, read, unpacking
from veilmap.sources.radiocells import parse

LOG = fakes.opencellid(3)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_unpacks_in_one_go_is_not_unpacked(tmp_path, method):
    """8 MB of zeros in a few hundred bytes; less than 4 MB are ever held."""
    with zipfile.ZipFile(tmp_path / "up.zip", "w", method) as archive:
        archive.writestr("a.csv", bytes(8_000_000))
    tracemalloc.start()
    with pytest.raises(UserError, match=r"a\.csv is packed in a rare way; pack it as plain zip"):
        read(tmp_path / "up.zip")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.parametrize("name", ["up.zip", "up.tar", "up.tgz"])
def test_an_archive_of_too_many_files_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.setattr(unpacking, "MOST_MEMBERS", 5)
    make = fakes.CONTAINERS["uploads" + name[2:]]
    with pytest.raises(UserError, match=rf"{name} holds more than 5 files; unpack it yourself"):
        read(make(tmp_path / name, {f".{index}": b"" for index in range(6)}))


@pytest.mark.parametrize("kind", containers.EXTENSIONS)
def test_a_tar_header_of_megabytes_is_not_read(tmp_path, kind):
    header = tarfile.TarInfo("x")
    header.type, header.size = kind, 8 << 30
    path = fakes.write(tmp_path / "up.tar", header.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    with pytest.raises(UserError, match=r"up\.tar is a broken .*a header of 8,589,934,592 bytes"):
        read(path)


def test_a_name_without_end_is_refused_and_not_repeated(tmp_path):
    path = fakes.zipped(tmp_path / "up.zip", {"a" * 60_000: LOG})
    with pytest.raises(UserError, match=r"a name of 60,000 characters") as caught:
        read(path)
    assert len(str(caught.value)) < 500


def test_a_log_that_nests_without_end_is_refused():
    with pytest.raises(UserError, match=r"log\.xml nests its elements too deeply"):
        parse(b"<logfile>" + b"<scan>" * 100, "log.xml")


@pytest.mark.parametrize("text", ['model="GT-I9100"', 'lng="-0.1"', 'time="20240301100000"'])
def test_a_text_that_every_row_would_repeat_is_short(text):
    """One megabyte once in the file, but in each of 20,000 rows of the table."""
    name = text.partition("=")[0]
    log = fakes.radiocells(1).replace(text.encode(), f'{name}="{"1" * 5000}"'.encode())
    with pytest.raises(UserError, match=r"of more than 1,000 letters"):
        parse(log, "log.xml")
    assert radiocells.LONGEST == geosubmit.LONGEST == 1000


def test_a_long_text_of_an_item_is_a_missing_one():
    (row,) = geosubmit.parse(fakes.geosubmit(1, timestamp="1" * 5000), "a.json")
    assert row[1] is None


def test_json_of_nothing_but_brackets_is_refused(monkeypatch):
    monkeypatch.setattr(geosubmit, "MOST_PARTS", 50)
    with pytest.raises(UserError, match=r"a\.json has more than 50 objects and lists; split it"):
        geosubmit.parse(b'{"items":[' + b"{}," * 60 + b"{}]}", "a.json")
