import gzip
import os
import tarfile
import zipfile
from dataclasses import replace

import pytest

from tests.sources import fakes
from veilmap.errors import UserError
from veilmap.sources import piece, read, scan, unpacking
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading

KEEP_GOING = Reading(keep_going=True)
TWO = {
    "a/one.csv": fakes.opencellid(3, mnc=10),
    "a/b/two.csv": fakes.opencellid(4, mnc=20),
}


@pytest.mark.parametrize("name", fakes.CONTAINERS)
def test_a_folder_and_every_archive_give_the_same_table(tmp_path, name):
    path = fakes.CONTAINERS[name](tmp_path / name, TWO)
    data = read(path)
    assert len(data) == 7
    assert data.cells == ["234-20-9751881", "234-10-9751881"]
    assert data.users == ["0"]
    assert read(path, Columns(user="file")).users == ["a/b/two.csv", "a/one.csv"]
    assert scan(path).formats == {"OpenCelliD": 2}


def test_large_files_of_a_folder_are_left_on_disk_and_read_the_same(tmp_path, monkeypatch):
    path = fakes.folder(tmp_path / "f", TWO | {"c.csv": fakes.opencellid(2, act="GSM")})
    small = scan(path)
    monkeypatch.setattr(piece, "LARGE_BYTES", 100)
    large = scan(path)
    assert "a/one.csv" in large.table.explain()
    assert "one.csv" not in small.table.explain()
    assert large.table.collect().equals(small.table.collect())
    assert large.count_passed_over() == small.count_passed_over() != ()


def test_a_mark_before_the_text_changes_nothing(tmp_path):
    mark = b"\xef\xbb\xbf"
    for make in (fakes.opencellid, fakes.radiocells, fakes.geosubmit):
        plain = fakes.write(tmp_path / "plain", make())
        marked = fakes.write(tmp_path / "marked", mark + make())
        assert read(plain).fingerprint == read(marked).fingerprint


def test_rows_count_within_the_file_that_they_are_from(tmp_path):
    table = scan(fakes.zipped(tmp_path / "two.zip", TWO)).table.collect()
    assert table.columns[-1] == "file"
    assert table["row"].to_list() == [2, 3, 4, 2, 3, 4, 5]
    assert table["file"].to_list() == ["a/one.csv"] * 3 + ["a/b/two.csv"] * 4


def test_a_single_table_has_no_column_of_files(tmp_path):
    path = fakes.write(tmp_path / "one.csv", TWO["a/one.csv"])
    assert "file" not in scan(path).table.collect_schema()
    with pytest.raises(UserError, match="has no column 'file'"):
        read(path, Columns(user="file"))


def test_an_invalid_row_is_named_with_its_file(tmp_path):
    path = fakes.folder(tmp_path / "f", {**TWO, "c.csv": fakes.opencellid(2, signal=31, mnc=30)})
    with pytest.raises(UserError, match=r"signal at or above 0 dBm \(first at line 2 of c.csv: 31"):
        read(path)
    assert len(read(path, reading=Reading(drop_invalid=True))) == 7


def test_hidden_files_and_those_of_macs_are_passed_over(tmp_path):
    junk = {"__MACOSX/a/one.csv": b"\0", ".DS_Store": b"\0", "a/.hidden/x.csv": b"", "._b": b"x"}
    for name, make in fakes.CONTAINERS.items():
        found = scan(make(tmp_path / name, {**junk, **TWO}))
        assert (found.formats, found.left_out) == ({"OpenCelliD": 2}, ())


def test_archives_in_a_folder_are_read_and_archives_in_archives_are_not(tmp_path):
    inner = fakes.zipped(tmp_path / "inner.zip", TWO)
    fakes.folder(tmp_path / "f", {"x/inner.zip": inner.read_bytes()})
    files = scan(tmp_path / "f").table.collect()["file"].unique().sort().to_list()
    assert files == ["x/inner.zip/a/b/two.csv", "x/inner.zip/a/one.csv"]
    outer = fakes.zipped(tmp_path / "outer.zip", {"inner.zip": inner.read_bytes()})
    with pytest.raises(UserError, match=r"inner.zip is an archive inside an archive; unpack it"):
        read(outer)


def test_gzipped_members_are_unpacked(tmp_path):
    packed = {name + ".gz": gzip.compress(content) for name, content in TWO.items()}
    for name, make in fakes.CONTAINERS.items():
        assert len(read(make(tmp_path / name, packed))) == 7


@pytest.mark.parametrize(
    "member", ["../x.csv", "a/../../x.csv", "/etc/x.csv", "C:\\x.csv", "..\\x"]
)
@pytest.mark.parametrize("name", ["up.zip", "up.tar", "up.tgz"])
def test_members_that_lead_out_of_the_archive_are_refused(tmp_path, name, member):
    path = fakes.CONTAINERS["uploads" + name[2:]](tmp_path / name, {**TWO, member: b"x"})
    with pytest.raises(UserError, match=f"^{name} holds .*leads out of the archive"):
        read(path, reading=KEEP_GOING)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_in_a_tar_are_refused(tmp_path, kind):
    member = tarfile.TarInfo("x.csv")
    member.type, member.linkname = kind, "/etc/passwd"
    with pytest.raises(UserError, match=r"up.tar holds 'x.csv', a link, device or sparse file"):
        read(fakes.tarred(tmp_path / "up.tar", {**TWO, "x.csv": member}))


def test_a_link_in_a_zip_is_refused(tmp_path):
    member = zipfile.ZipInfo("x.csv")
    member.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "up.zip", "w") as archive:
        archive.writestr(member, "/etc/passwd")
    with pytest.raises(UserError, match=r"up.zip holds 'x.csv', a link"):
        read(tmp_path / "up.zip")


BOMB = b"mcc,mnc\n" + b"0" * 3_000_000


@pytest.mark.parametrize("name", ["uploads.zip", "uploads.tgz", "uploads.csv.gz"])
def test_a_bomb_is_refused_before_it_has_unpacked(tmp_path, name, monkeypatch):
    monkeypatch.setattr(unpacking, "FREE_BYTES", 1_000_000)
    if name.endswith(".csv.gz"):
        path = fakes.gzipped(tmp_path / name, BOMB)
    else:
        path = fakes.CONTAINERS[name](tmp_path / name, {"a.csv": BOMB})
    with pytest.raises(
        UserError, match=rf"{name} unpacks to more than 1 MB, like a decompression bomb"
    ):
        read(path, reading=KEEP_GOING)


def test_a_bomb_in_pieces_or_in_a_packed_member_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "FREE_BYTES", 1_000_000)
    pieces = {f"{index}.csv": fakes.opencellid(2) + b"\n" * 400_000 for index in range(9)}
    with pytest.raises(UserError, match=r"up.zip unpacks to more than 1 MB"):
        read(fakes.zipped(tmp_path / "up.zip", pieces))
    with pytest.raises(UserError, match=r"in.zip unpacks to more than 1 MB"):
        read(fakes.zipped(tmp_path / "in.zip", {"a.csv.gz": gzip.compress(BOMB)}))


def test_a_size_that_a_zip_declares_is_not_believed(tmp_path, monkeypatch):
    """The directory says 10 bytes, 3 million are there: broken, and never unpacked whole."""
    monkeypatch.setattr(unpacking, "FREE_BYTES", 1_000_000)
    path = fakes.zipped(tmp_path / "up.zip", {"a.csv": BOMB})
    size = len(BOMB).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(UserError, match=r"a.csv is broken in the zip \(Bad CRC-32"):
        read(path)


def test_large_archives_may_unpack_to_many_times_their_size(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "FREE_BYTES", 10)
    assert len(read(fakes.zipped(tmp_path / "up.zip", TWO))) == 7


@pytest.mark.parametrize("name", ["uploads.zip", "uploads.tar", "uploads.tgz"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_truncated_archive_is_named(tmp_path, name, share):
    noise = {f"{index}.csv": os.urandom(3000) for index in range(20)}
    path = fakes.CONTAINERS[name](tmp_path / name, TWO | noise)
    whole = path.read_bytes().rstrip(b"\0") if name.endswith("tar") else path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(UserError, match=rf"{name} is a broken.*pack it again"):
        read(path, reading=KEEP_GOING)


def test_a_tar_cut_between_two_members_is_noticed(tmp_path):
    """One member is a header and content filled up to 512 bytes each: the second begins at 2048."""
    member = fakes.opencellid(15)
    assert 1024 < len(member) <= 1536
    path = fakes.tarred(tmp_path / "up.tar", {"one.csv": member, "two.csv": member})
    path.write_bytes(path.read_bytes()[:2048])
    with pytest.raises(UserError, match=r"up.tar is a broken or cut tar file"):
        read(path)


def test_a_tar_with_a_broken_header_is_noticed(tmp_path):
    path = fakes.tarred(tmp_path / "up.tar", TWO)
    content = bytearray(path.read_bytes())
    second = content.index(b"a/b/two.csv")
    content[second + 150] ^= 1  # within the checksum
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"up.tar is a broken or cut tar file"):
        read(path)


@pytest.mark.parametrize("name", ["one.xml.gz", "one.csv.gz", "one.json.gz"])
def test_a_truncated_gzip_is_named_with_its_file(tmp_path, name):
    make = {"xml": fakes.radiocells, "csv": fakes.opencellid, "json": fakes.geosubmit}
    packed = gzip.compress(make[name.split(".")[1]](5000))
    fakes.write(tmp_path / name, packed)
    assert scan(tmp_path / name).table.collect().height == 5000
    fakes.write(tmp_path / name, packed[:-1000])
    with pytest.raises(UserError, match=rf"{name} is a broken gzip file"):
        read(tmp_path / name)


def test_a_zip_with_a_password_is_named(tmp_path):
    path = fakes.zipped(tmp_path / "up.zip", {"a.csv": TWO["a/one.csv"]})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.csv is encrypted; unpack it with its password first"):
        read(path)


def test_one_broken_member_stops_or_is_left_out_and_named(tmp_path):
    members = {**TWO, "bad.xml": b"<logfile>\n<scan>\n</logfile>", "README.md": b"# Measurements\n"}
    for name, make in fakes.CONTAINERS.items():
        path = make(tmp_path / name, members)
        with pytest.raises(UserError, match=rf"^{name}: .*--keep-going reads the others"):
            read(path)
        data = read(path, reading=KEEP_GOING)
        assert len(data) == 7
        assert sorted(data.left_out) == [
            ("README.md", "not a table: it has a single column"),
            ("bad.xml", "broken XML at line 3, column 3 (mismatched tag)"),
        ]


def test_nothing_readable_is_an_error_even_when_going_on(tmp_path):
    path = fakes.folder(tmp_path / "f", {"README.md": b"# Hello\n", "x.pdf": b"%PDF-1.4\0\1"})
    with pytest.raises(UserError, match=r"cannot read 2 files of f \(README.md: no"):
        read(path, reading=KEEP_GOING)


def test_an_empty_folder_and_an_empty_archive(tmp_path):
    (tmp_path / "f").mkdir()
    with pytest.raises(UserError, match="f holds no file"):
        read(tmp_path / "f")
    with pytest.raises(UserError, match=r"up.zip holds no file"):
        read(fakes.zipped(tmp_path / "up.zip", {}), reading=KEEP_GOING)


def test_a_pipe_in_a_folder_does_not_block(tmp_path):
    fakes.folder(tmp_path / "f", TWO)
    os.mkfifo(tmp_path / "f" / "pipe")
    assert scan(tmp_path / "f", reading=KEEP_GOING).left_out == (("pipe", "not a regular file"),)


def test_a_broken_archive_in_a_folder_is_one_file_left_out(tmp_path):
    path = fakes.folder(tmp_path / "f", {**TWO, "bad.zip": b"PK\3\4" + bytes(100)})
    (left_out,) = read(path, reading=KEEP_GOING).left_out
    assert left_out[0] == "bad.zip"
    assert "broken zip file" in left_out[1]


def test_names_that_are_no_utf_8_are_read_and_shown(tmp_path):
    (tmp_path / "f").mkdir()
    with open(os.fsencode(tmp_path / "f") + b"/caf\xe9.csv", "wb") as file:
        file.write(TWO["a/one.csv"])
    assert read(tmp_path / "f", Columns(user="file")).users == ["caf?.csv"]


def test_nothing_is_written_to_disk(tmp_path, monkeypatch):
    fakes.zipped(tmp_path / "up.zip", TWO)
    monkeypatch.chdir(tmp_path)
    read("up.zip")
    assert sorted(os.listdir(tmp_path)) == ["up.zip"]


def test_a_folder_of_different_formats_is_one_table(tmp_path):
    members = {
        "a.csv": fakes.opencellid(3),
        "b.xml": fakes.radiocells(2),
        "c.json": fakes.geosubmit(2, position={"latitude": 51.5, "longitude": -0.1}),
        "d.csv.gz": gzip.compress(fakes.opencellid(4, mnc=20)),
    }
    path = fakes.folder(tmp_path / "f", members)
    found = scan(path)
    assert found.formats == {"OpenCelliD": 2, "Radiocells": 1, "Geosubmit v2": 1}
    assert len(read(path)) == 11
    assert found.roles == {}


def test_of_a_hostile_archive_in_a_folder_nothing_is_taken(tmp_path):
    folder = fakes.folder(tmp_path / "f", {"a.csv": fakes.opencellid(5)})
    hostile = {"good.csv": fakes.opencellid(7, mnc=20), "../evil.csv": fakes.opencellid(1)}
    fakes.tarred(folder / "t.tar", hostile)
    data = read(folder, reading=KEEP_GOING)
    assert len(data) == 5
    assert [name for name, _ in data.left_out] == ["t.tar"]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    outside = fakes.write(tmp_path / "secret.csv", fakes.opencellid(9))
    folder = fakes.folder(tmp_path / "f", {"a.csv": fakes.opencellid(5)})
    (folder / "b.csv").symlink_to(outside)
    (folder / "c.csv").symlink_to(folder / "a.csv")
    data = read(folder, reading=Reading(keep_going=True, drop_invalid=True))
    assert data.left_out == (("b.csv", "a link that leads out of the folder"),)


def test_a_folder_that_cannot_be_listed_is_named(tmp_path, monkeypatch):
    folder = fakes.folder(tmp_path / "f", {"a.csv": fakes.opencellid(5), "closed/b.csv": b""})
    listed = os.scandir

    def scandir(path):
        if os.fspath(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(UserError, match=r"closed cannot be listed \(Permission denied\)"):
        read(folder)
    assert len(read(folder, reading=KEEP_GOING)) == 5


def test_damage_deep_in_a_large_file_is_that_files(tmp_path, monkeypatch):
    folder = fakes.folder(tmp_path / "f", {"a.csv": fakes.opencellid(5)})
    path = folder / "b.parquet"
    read(folder / "a.csv").write_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:200] = bytes(196)
    path.write_bytes(content)
    monkeypatch.setattr(piece, "LARGE_BYTES", 100)
    data = read(folder, reading=KEEP_GOING)
    assert (len(data), [name for name, _ in data.left_out]) == (5, ["b.parquet"])


def test_files_with_different_clocks_need_one(tmp_path):
    data = read(fakes.write(tmp_path / "a.csv", fakes.opencellid(5)))
    folder = tmp_path / "f"
    for name, zone in (("a.parquet", "Europe/Athens"), ("b.parquet", "Europe/London")):
        replace(data, timezone=zone).write_parquet(folder / name)
    with pytest.raises(UserError, match=r"different clocks \(Europe/Athens, Europe/London\)"):
        read(folder)
    zone = Reading(timezone="Europe/Athens", drop_invalid=True)
    assert read(folder, reading=zone).timezone == "Europe/Athens"


def test_a_bound_on_bytes_holds_for_large_archives_too(monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_BYTES", 1000)
    budget = unpacking.Budget("a.zip", 10**9)
    with pytest.raises(UserError, match=r"a\.zip unpacks to more than"):
        budget.spend(1001)


def test_a_member_without_a_name_or_with_one_that_is_no_text_is_refused(tmp_path):
    sound = fakes.zipped(tmp_path / "up.zip", {"a.csv": TWO["a/one.csv"]}).read_bytes()
    for name in (b"\xff.csv", b"\0.csv"):
        # The flag that the name is UTF-8, at byte 8 of the entry in the directory.
        entry = sound.rindex(b"PK\1\2")
        broken = sound[: entry + 9] + b"\x08" + sound[entry + 10 :]
        path = fakes.write(tmp_path / "up.zip", broken.replace(b"a.csv", name))
        with pytest.raises(UserError, match=r"up.zip"):
            read(path)
