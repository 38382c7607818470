"""Small data, specs and rows for the tests of sweeps."""

from datetime import UTC, datetime, timedelta

import polars as pl

from tests.conftest import make_measurements
from tests.map_figures import map_figures
from veilmap.measurements import Measurements
from veilmap.metrics.rows import TrialRow
from veilmap.metrics.scores import Scores
from veilmap.sweeping.claims import claim_of
from veilmap.sweeping.cohort import Given
from veilmap.sweeping.selection import SweepRow
from veilmap.sweeping.spec import Data, Runs, Spec

LAYERS = {"hidden": (4,), "activations": ("relu",), "dropout": (0.0,)}
TINY = {"map": "network", "interval": "1w", **LAYERS}
QUICK = {"method": "first_layer"}


def make_data(rows=160, users=2) -> Measurements:
    """Two or three weeks with an hour or two between a user's rows."""
    return make_measurements(rows=rows, users=users, step_s=21 * 86_400 / rows)


def make_given(**keywords) -> Given:
    return Given(make_data(**keywords))


def make_places(east_deg: dict[str, float], rows=20) -> Measurements:
    """Users who stay at a longitude each, every hour; the first has one row more."""
    start = datetime(2024, 1, 1, 10, tzinfo=UTC)
    first, *_ = east_deg
    lines = [
        {
            "user": user,
            "cell": "a",
            "time": start + timedelta(hours=row),
            "lat_deg": 51.5 + 1e-5 * row,
            "lon_deg": place,
            "rsrp_dbm": -90.0 - number,
            "accuracy_m": 5.0,
        }
        for number, (user, place) in enumerate(east_deg.items())
        for row in range(rows + (user == first))
    ]
    return Measurements.of(pl.DataFrame(lines, schema_overrides={"time": pl.Datetime("us", "UTC")}))


def rows_of(*tables) -> list[SweepRow]:
    """Rows that are keys alone, as published numbers are."""
    return [SweepRow(table) for table in tables]


def make_row(attack="none", seed=0, rmse_db=5.0, **scores) -> TrialRow:
    found = Scores(rounds=1, **scores) if scores else None
    return TrialRow("c", attack, None, seed, map_figures(rmse_db), scores=found)


def make_runs(**changes) -> Runs:
    """One tiny run, trained alone and attacked."""
    usual = {
        "name": "part",
        "configuration": "fedsgd",
        "settings": TINY,
        "attacks": QUICK,
        "users": ("target",),
    }
    return Runs(**{**usual, **changes})


def make_spec(*runs: Runs, label="spec", data: Data = Data(), claims=()) -> Spec:
    return Spec(label, label, "", data, runs or (make_runs(),), claims=claims)


def make_claim(kind="above", says="it is so", **settings):
    return claim_of({"says": says, "kind": kind, **settings})
