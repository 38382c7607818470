"""Whom an attack is about where nobody is named."""

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import veilmap
from tests.cli.test_cli import run
from veilmap.measurements import Measurements

START = datetime(2024, 1, 1, 10, tzinfo=UTC)


def measured(rows_by_day):
    """By user, how many rows on each day."""
    draw = np.random.default_rng(0)
    times = [
        (user, START + timedelta(days=day, minutes=row))
        for user, days in rows_by_day.items()
        for day, rows in enumerate(days)
        for row in range(rows)
    ]
    users, moments = zip(*times, strict=True)
    n = len(users)
    return Measurements.of(
        pl.DataFrame(
            {
                "user": users,
                "cell": ["a"] * n,
                "time": moments,
                "lat_deg": 51.5 + draw.normal(0, 0.002, n),
                "lon_deg": -0.1 + draw.normal(0, 0.003, n),
                "rsrp_dbm": draw.normal(-96, 5, n).round(),
                "accuracy_m": 10.0,
            },
            schema_overrides={"time": pl.Datetime("us", "UTC")},
        )
    )


def trained(folder, rows_by_day):
    data = measured(rows_by_day)
    data.write_parquet(folder / "data.parquet")
    veilmap.train(
        veilmap.read(folder / "data.parquet"), interval="1d", split="random", out=folder / "run"
    )
    return folder / "run"


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    """One measures most, on two days; another on four."""
    days = {"visitor": (80, 80), "resident": (20, 20, 20, 20)}
    return trained(tmp_path_factory.mktemp("visitor"), days)


def test_users_with_three_rounds_go_first(visitor):
    assert veilmap.attack(visitor, method="squares").target == "resident"
    assert veilmap.attack(visitor, method="squares", target="visitor").target == "visitor"


def test_where_nobody_has_three_the_densest_is_attacked(tmp_path):
    assert (
        veilmap.attack(trained(tmp_path, {"a": (20, 20), "b": (60,)}), method="squares").target
        == "b"
    )


def test_few_rounds_are_said_to_be_few(capsys, visitor, tmp_path):
    words = ["attack", visitor, "--method", "squares", "--out"]
    enough, _ = run(capsys, *words, tmp_path / "enough")
    assert "user resident: 4 rounds" in enough
    assert "nights by the clock of UTC" in enough
    assert "fewer than 3 rounds" not in enough
    few, _ = run(capsys, *words, tmp_path / "few", "--target", "visitor")
    assert "fewer than 3 rounds: what is found in so few says little of others" in few
    assert "the cell's data name no home of this user: no measurement between 22:00" in few
    assert "heaviest place, error, m" in few
