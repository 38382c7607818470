"""Small worlds for the tests, and the real data where it is there."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import settings

# One browser for all tests, as fixtures.
from tests.browsing import browser, open_file  # noqa: F401
from veilmap.local_data import LocalData, Scaler
from veilmap.measurements import Measurements
from veilmap.sources import campus
from veilmap.sources.campus import Campus

SMALL_WORLD = Campus(users=3, days=14, cells=4, logged_days=0.8)
SHARED = Path(__file__).parents[1].parent / "shared"
# The files that take ten seconds or more, the longest first.
LONG = (
    "test_broken_machines.py", "test_on_machines.py", "test_simulation.py", "test_on_loopback.py",
    "test_reproduce.py", "test_measurement_files.py", "test_audit.py", "test_cli.py",
    "test_attack.py", "test_train.py", "test_examples.py", "test_private_files.py",
)  # fmt: skip

# A loaded machine is slow, and that is no fault of the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


def pytest_collection_modifyitems(items):
    """Long files first: at the end no core waits for one of them."""
    place = {name: number for number, name in enumerate(LONG)}
    items.sort(key=lambda item: place.get(item.path.name, len(LONG)))


@pytest.fixture(scope="session")
def shared_data():
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the real measurements (shared/data beside the project) are not here")
    return folder


@pytest.fixture(scope="session")
def small_campus() -> Measurements:
    """Two weeks of three users under four cells, about 25,000 rows."""
    return campus.simulate(0, SMALL_WORLD)


@pytest.fixture(scope="session")
def campus_file(small_campus, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "campus.parquet"
    small_campus.write_parquet(path)
    return path


@pytest.fixture(scope="session")
def little_file(small_campus, tmp_path_factory) -> Path:
    """Every 16th row of ``small_campus``, for commands that compute much."""
    path = tmp_path_factory.mktemp("little") / "campus.parquet"
    small_campus.keep(pl.int_range(pl.len()) % 16 == 0).write_parquet(path)
    return path


def make_measurements(rows=200, users=2, step_s=600.0, seed=0) -> Measurements:
    """``rows`` rows, user after user in turn, every ``step_s`` seconds, from 2024-01-01 10:00."""
    draw = np.random.default_rng(seed)
    start = datetime(2024, 1, 1, 10, tzinfo=UTC)
    return Measurements.of(
        pl.DataFrame(
            {
                "user": [f"u{row % users}" for row in range(rows)],
                "cell": ["a"] * rows,
                "time": [start + timedelta(seconds=step_s * row) for row in range(rows)],
                "lat_deg": 51.5 + draw.normal(0, 0.002, rows),
                "lon_deg": -0.1 + draw.normal(0, 0.003, rows),
                "rsrp_dbm": draw.normal(-96, 5, rows).round(),
                "accuracy_m": draw.uniform(5, 50, rows),
            },
            schema_overrides={"time": pl.Datetime("us", "UTC")},
        )
    )


def make_local_data(n: int, seed: int = 0) -> LocalData:
    draw = np.random.default_rng(seed)
    return LocalData(
        draw.normal(0, 100, (n, 2)), draw.normal(-96, 5, n).round(), np.arange(n, dtype=float)
    )


UNIT_SCALER = Scaler((0.0, 0.0), (100.0, 100.0))
