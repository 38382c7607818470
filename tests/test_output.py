import os
import subprocess
import sys

import pytest

from veilmap.errors import UserError
from veilmap.output import held, held_file

HOLD = (
    "import sys; from pathlib import Path; from veilmap.output import held\n"
    "with held(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
)


def test_a_second_process_is_refused_and_one_that_was_killed_holds_nothing(tmp_path):
    first = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with first:
        assert first.stdout.readline() == "held\n"
        second = held(tmp_path)
        with pytest.raises(UserError, match="is in use by another process of veilmap; end that"):
            second.__enter__()
        first.kill()
    assert os.listdir(tmp_path) == [".lock"]
    with held(tmp_path):
        pass
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_left_goes(tmp_path):
    for folder in (tmp_path, tmp_path / "runs", tmp_path / "mine"):
        folder.mkdir(exist_ok=True)
        (folder / ".a.12.part").write_bytes(b"half")
    with held(tmp_path, "runs", "not there"):
        left = [path.parent.name for path in tmp_path.rglob("*.part")]
    assert left == ["mine"]


def test_a_folder_made_for_nothing_goes_again(tmp_path):
    with held(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert os.listdir(tmp_path) == []
    with held(tmp_path / "a" / "b"):
        (tmp_path / "a" / "b" / "file").write_bytes(b"")
    assert os.listdir(tmp_path / "a" / "b") == ["file"]


def test_a_file_is_held_beside_others(tmp_path):
    with held_file(tmp_path / "a"), held_file(tmp_path / "b"):
        assert sorted(os.listdir(tmp_path)) == [".a.lock", ".b.lock"]
        with pytest.raises(UserError, match="b is in use by another"), held_file(tmp_path / "b"):
            pass
    assert os.listdir(tmp_path) == []


def test_nothing_to_write_is_nothing_to_hold():
    with held(None):
        pass
