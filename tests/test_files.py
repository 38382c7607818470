import os

import pytest

from veilmap.errors import UserError
from veilmap.files import write_whole


def test_writes_into_a_new_folder_and_leaves_no_temporary_file(tmp_path):
    write_whole(tmp_path / "new" / "file", b"abc")
    assert (tmp_path / "new" / "file").read_bytes() == b"abc"
    assert os.listdir(tmp_path / "new") == ["file"]


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match=r"cannot write .*choose another place"):
        write_whole(tmp_path / "file" / "below", b"")
