import os
import stat

import pytest

from veilmap.errors import UserError
from veilmap.files import remove_parts, write_whole, written


def test_writes_into_a_new_folder_and_leaves_no_temporary_file(tmp_path):
    write_whole(tmp_path / "new" / "file", b"abc")
    assert (tmp_path / "new" / "file").read_bytes() == b"abc"
    assert os.listdir(tmp_path / "new") == ["file"]


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match=r"cannot write .*choose another place"):
        write_whole(tmp_path / "file" / "below", b"")


def test_all_are_on_the_disk_before_the_old_ones_go_and_named_in_their_order(tmp_path):
    mark, other = tmp_path / "mark", tmp_path / "other"
    mark.write_bytes(b"old")
    with written({other: b"new", mark: b"new"}):
        assert len(os.listdir(tmp_path)) == 3
        assert not other.exists()
        mark.unlink()
    assert (other.read_bytes(), mark.read_bytes()) == (b"new", b"new")
    assert other.stat().st_ctime_ns <= mark.stat().st_ctime_ns


def test_one_that_cannot_be_written_leaves_all_as_they_were(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    contents = {tmp_path / "file": b"new", tmp_path / "file" / "below": b""}
    with pytest.raises(UserError, match=r"cannot write .*below: File exists"), written(contents):
        pytest.fail("nothing may be removed")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_folders_are_flushed_after_their_files_got_names(tmp_path, monkeypatch):
    """Without it a power cut may take the new name away."""
    flushed = []

    def fsync(opened):
        is_folder = stat.S_ISDIR(os.fstat(opened).st_mode)
        flushed.append((is_folder, (tmp_path / "file").exists()))

    monkeypatch.setattr("veilmap.files.os.fsync", fsync)
    write_whole(tmp_path / "file", b"abc")
    assert flushed == [(False, False), (True, True)]


def test_parts_of_killed_processes_are_removed_and_nothing_else(tmp_path):
    for name in (".a.12.part", ".b.12.part", ".c.part", "d.12.part", ".e"):
        (tmp_path / name).write_bytes(b"")
    remove_parts(tmp_path, "a")
    assert sorted(os.listdir(tmp_path)) == [".b.12.part", ".c.part", ".e", "d.12.part"]
    remove_parts(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".c.part", ".e", "d.12.part"]
