"""A field that two users measure in sessions, and settings under which it is compared fast."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl

from tests.conftest import make_measurements
from veilmap.map_quality.rows import QualityRow
from veilmap.map_quality.summary import Summary
from veilmap.measurements import Measurements

TINY = {"interval": "1d", "hidden": (8,), "activations": ("tanh",), "dropout": (0.0,), "seeds": 1}
TINY_OPTIONS = ("--interval", "1d", "--hidden", "8", "--activations", "tanh", "--dropout", "0")


def field_dbm(xy_m):
    """Between -115 and -75 dBm, smooth over hundreds of metres."""
    return -95 + 14 * np.sin(xy_m[:, 0] / 120) + 6 * np.cos(xy_m[:, 1] / 150)


def make_field(rows=600, noise_db=2.0, seed=0) -> Measurements:
    """Sessions of 15 rows a minute apart, three hours from one to the next, over 600 m."""
    data = make_measurements(rows, users=2, seed=seed)
    # Not the numbers that the positions are made of.
    draw = np.random.default_rng([seed, 1])
    first = datetime(2024, 1, 1, 10, tzinfo=UTC)
    times = [first + timedelta(hours=3 * (k // 15), minutes=k % 15) for k in range(rows)]
    users = [f"u{(k // 15) % 2}" for k in range(rows)]
    signal = field_dbm(data.xy_m - data.xy_m.mean(axis=0)) + draw.normal(0, noise_db, rows)
    columns = {"time": pl.Series(times).cast(pl.Datetime("us", "UTC")), "user": pl.Series(users)}
    table = data.table.with_columns(**columns, rsrp_dbm=pl.Series(signal))
    return replace(data, table=table.sort("time"))


def row(predictor="constant", kind="baseline", seed=0, **figures) -> QualityRow:
    """With 8 dB and no skill where nothing else is said."""
    usual = {
        "rmse_db": 8.0,
        "rmse_by_place_db": 8.0,
        "skill": 0.0,
        "skill_by_place": 0.0,
        "share_of_best": None,
        "coverage_recall": None,
        "coverage_precision": None,
        "coverage_f1": None,
        "low_signal_rmse_db": 8.0,
        "interval_coverage_68": None,
        "interval_coverage_95": None,
        "seconds": 0.1,
    }
    return QualityRow(predictor, kind, seed, **(usual | figures))


def summary(predictor="constant", kind="baseline", **figures) -> Summary:
    return Summary(predictor, kind, (row(predictor, kind, **figures),))
