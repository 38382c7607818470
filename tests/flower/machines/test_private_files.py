import subprocess
import sys

import pytest

from tests.flower.machines.loopback import LIMIT_S
from veilmap.errors import UserError
from veilmap.flower.machines.private_files import held_privately, private_folder, write_private


def test_a_folder_has_one_holder_at_a_time(tmp_path):
    second = held_privately(tmp_path, "node")
    with held_privately(tmp_path, "node"), pytest.raises(UserError, match="in use by another node"):
        second.__enter__()
    with held_privately(tmp_path, "node"):
        pass


def test_a_killed_holder_holds_nothing(tmp_path):
    code = (
        "import os, sys; from pathlib import Path\n"
        "from veilmap.flower.machines.private_files import held_privately\n"
        "with held_privately(Path(sys.argv[1]), 'node'): os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path], timeout=LIMIT_S)
    assert done.returncode == -9
    assert (tmp_path / ".lock").exists()
    with held_privately(tmp_path, "node"):
        pass


def test_a_secret_replaces_a_file_that_others_could_read(tmp_path):
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot write .*file/state"):
        private_folder(tmp_path / "file" / "state")


def test_a_secret_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(UserError, match=r"cannot write .*secret"):
        write_private(tmp_path / "missing" / "secret", b"")
