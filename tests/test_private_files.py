"""Files with positions in them, or from which positions can be found, are for their owner alone."""

import os
import stat
from pathlib import Path

import pytest

from tests.auditing.making import make_data
from tests.cli.test_cli import run
from tests.sources import fakes
from tests.test_transcript import observations, write
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


LAYERS = ("--hidden", "8", "--activations", "relu", "--dropout", "0")
TINY = ("--interval", "1d", "--map", "network", *LAYERS)
AUDIT = (*TINY, "--seeds", "1", "--method", "first_layer", "--configurations", "fedavg")
# Command → the files that others may read: maps, figures without a place, and what was redacted.
# Not here: what sweep writes, reproduce does; simulate london packs uploads of nobody, openly.
LEAVES_OPEN = {
    ("train", "data.parquet", "--out", "run", *TINY): (),
    ("attack", "run", "--method", "first_layer", "--plot"): (),
    ("map", "run", "--out", "map.tif"): ("map.tif",),
    ("map", "run", "--out", "map.geojson"): ("map.geojson",),
    ("map", "run", "--out", "map.png"): ("map.pgw", "map.png", "map.png.aux.xml"),
    ("inspect", "data.parquet", "--plot", "pictures"): (),
    ("stitch", "uploads", "--out", "stitched.parquet"): (),
    ("simulate", "campus", "--users", "2", "--days", "2", "--out", "campus.parquet"): (),
    ("train", "data.parquet", "--out", "kriged", "--interval", "1d"): (),
    ("map", "kriged", "--out", "kriged.tif"): (),
    ("map", "kriged", "--out", "kriged.png"): ("kriged.pgw", "kriged.png.aux.xml"),
    ("quality", "data.parquet", "--out", "quality", "--seeds", "1", "--split", "random",
     "--maps", "network", "kriging", *TINY[:2], *LAYERS): (),
    ("tune", "data.parquet", "--out", "a.toml", "--trials", "2", *TINY[:2]): (
        "a.toml",
        "a.toml.journal",
    ),
    ("reproduce", "fig:eta_tuning_1_week", "--data", "data.parquet", "--out", "again", "--quick",
     "--page", "page.md"): (
        "again/board.md",
        "again/results.json",
        "again/rows.parquet",
        "page.md",
        "page/fig-eta_tuning_1_week.png",
    ),
    ("audit", "data.parquet", "--out", "audit", "--figures", *AUDIT): (
        "audit/figures/tradeoff-*.p??",
        "audit/trials/*.json",
    ),
    ("audit", "data.parquet", "--out", "audit", "--redact", *AUDIT): (
        "audit/report.html",
        "audit/results.json",
        "audit/trials/*.json",
    ),
}  # fmt: skip


def files_of(folder: Path):
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


def test_what_commands_leave_is_their_owners_alone_but_for_what_is_listed(
    tmp_path, monkeypatch, capsys
):
    """One after the other, since some read what others wrote."""
    make_data().write_parquet(tmp_path / "data.parquet")
    fakes.folder(
        tmp_path / "uploads", {f"{i}.xml": fakes.radiocells(3, first=3 * i) for i in (0, 1)}
    )
    monkeypatch.chdir(tmp_path)
    for words, names in LEAVES_OPEN.items():
        before = {path: path.stat().st_mtime_ns for path in files_of(tmp_path)}
        jobs = ("--jobs", "1") if words[0] in ("audit", "reproduce") else ()
        run(capsys, *words, *jobs)
        made = {path for path in files_of(tmp_path) if before.get(path) != path.stat().st_mtime_ns}
        allowed = {path for name in names for path in tmp_path.glob(name)}
        is_open = {path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077}
        assert made, words
        assert is_open == allowed & made, words
        assert all(list(tmp_path.glob(name)) for name in names), words


def test_a_file_that_was_open_does_not_stay_so(tmp_path):
    write_whole(tmp_path / "a", b"public")
    write_whole(tmp_path / "a", b"secret", PRIVATE)
    assert open_files(tmp_path) == []
