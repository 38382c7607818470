"""What one user sent to several towers, attacked together."""

import json
from pathlib import Path

import polars as pl
import pytest

import veilmap
from tests.cli.test_cli import run
from tests.study.test_attack import SMALL
from veilmap.errors import UserError
from veilmap.sources.reader import read
from veilmap.study.train import train

DAILY = {**SMALL, "interval": "1d"}
TARGET = "0"


@pytest.fixture(scope="module")
def runs(campus_file, tmp_path_factory) -> tuple[Path, Path]:
    """Of two towers with the same user."""
    folder, data = tmp_path_factory.mktemp("towers"), read(campus_file)
    one, other = sorted(data.keep(pl.col("user") == TARGET).cells[:2])
    for cell in (one, other):
        train(data, cell=cell, out=folder / cell, **DAILY)
    return folder / one, folder / other


def test_messages_to_another_tower_change_what_joint_finds(runs):
    here, there = runs
    keywords = {"method": "first_layer,joint", "target": TARGET}
    alone, together = (veilmap.attack(here, also=each, **keywords) for each in ((), (there,)))
    assert together.scores["joint"].rounds == alone.scores["joint"].rounds
    assert together.scores["joint"].cloud_emd_m != alone.scores["joint"].cloud_emd_m
    one, other = (each.scores["first_layer"].cloud_emd_m for each in (alone, together))
    assert one == other


def test_the_command_takes_other_runs(runs, tmp_path, capsys):
    here, there = runs
    options = ["--method", "joint", "--target", TARGET, "--out", tmp_path / "out"]
    shown, _ = run(capsys, "attack", here, *options, "--also", there)
    assert f"joint also reads what the user sent in: {there}" in shown
    content = json.loads((tmp_path / "out" / "results.json").read_text())
    assert content["settings"]["resolved"]["also"] == [str(there)]


@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"method": "search"}, "none of these attacks reads messages to other towers"),
        ({"method": "joint", "secure_aggregation": True}, "name a user with --target"),
    ],
)
def test_other_towers_that_cannot_be_used_are_refused(runs, keywords, match):
    here, there = runs
    with pytest.raises(UserError, match=match):
        veilmap.attack(here, also=[there], **keywords)


def test_a_run_without_the_user_is_named(runs, campus_file, tmp_path):
    others = read(campus_file).keep(pl.col("user") != TARGET)
    train(others, out=tmp_path / "others", **DAILY)
    with pytest.raises(UserError, match="others has no message of user '0'; leave it out"):
        veilmap.attack(runs[0], method="joint", also=[tmp_path / "others"], target=TARGET)


def test_a_run_that_is_none_is_named(runs, tmp_path):
    with pytest.raises(UserError, match="nowhere does not exist; give the folder"):
        veilmap.attack(runs[0], method="joint", also=[tmp_path / "nowhere"], target=TARGET)
