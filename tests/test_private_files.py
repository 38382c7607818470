"""Files with positions in them, or from which positions can be found, are for their owner alone."""

import os
import stat
from pathlib import Path

import pytest

from tests.auditing.making import TINY, make_data
from tests.test_transcript import observations, write
from veilmap.auditing.audit import audit
from veilmap.files import PRIVATE, write_whole


@pytest.fixture(autouse=True)
def generous_mask():
    before = os.umask(0)
    yield
    os.umask(before)


def open_files(folder: Path):
    """Those that others may read."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return sorted(path.name for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077)


def test_a_transcript_and_measurements(tmp_path):
    write(tmp_path / "transcript", observations(2, 2))
    make_data().write_parquet(tmp_path / "data.parquet")
    assert open_files(tmp_path) == []


def test_an_audit_and_one_that_may_be_shown_to_others(tmp_path):
    """Figures without a place in them are open, as is a report that was redacted."""
    tiny = {**TINY, "seeds": 1, "configurations": ("fedavg",), "method": ("neurons",)}
    audit(make_data(), out=tmp_path, jobs=1, **tiny)
    assert list(tmp_path.rglob("*.npz"))
    assert {Path(name).suffix for name in open_files(tmp_path)} == {".json"}
    audit(make_data(), out=tmp_path, jobs=1, redact=True, **tiny)
    assert "report.html" in open_files(tmp_path)


def test_a_file_that_was_open_does_not_stay_so(tmp_path):
    write_whole(tmp_path / "a", b"public")
    write_whole(tmp_path / "a", b"secret", PRIVATE)
    assert open_files(tmp_path) == []
