"""Small audits, and rankings made by hand."""

from dataclasses import replace

import polars as pl

from tests.attacks.sums.making import OF_SUMS
from tests.conftest import make_measurements
from tests.map_figures import map_figures
from veilmap.attacks.methods import METHODS
from veilmap.auditing.ranking import Ranked, Ranking
from veilmap.metrics.rows import (
    AttackedRound,
    SentFigures,
    StartFigures,
    TrialRound,
    TrialRow,
)
from veilmap.metrics.scores import Scores
from veilmap.metrics.spread import Spread, Strongest

# Quick: two users, two days, a small network, and two of the attacks.
TINY = {
    "method": ("search", "first_layer"),
    "interval": "1d",
    "hidden": (8, 6),
    "activations": ("relu", "sigmoid"),
    "dropout": (0.0, 0.0),
    "seeds": 2,
    "configurations": ("fedavg", "fedavg + farthest:eps_m=50,num=5"),
}
# Of our attacks those that read the updates of a network.
ON_SUMS = tuple(name for name in METHODS if name in OF_SUMS)
ON_NETWORKS = tuple(name for name in METHODS if name not in OF_SUMS)
# All attacks, few steps of each.
ALL_ATTACKS = {
    **TINY,
    "method": METHODS,
    "max_iterations": 10,
    "grid_cells": 20,
    "finest_m": 100.0,
}


def make_data(rows=200, users=2):
    return make_measurements(rows=rows, users=users)


def renamed(data, names):
    """The same measurements by users of other names."""
    table = data.table.with_columns(pl.col("user").replace_strict(names))
    return replace(data, table=table)


def ranked(name, rmse_db, home_m, *, off=0.0, nearest_m=None, emd=None, recall=None, **more):
    """A configuration whose strongest attack is search; its figures reach ``off`` to both sides."""
    given = {
        "home_error_m": home_m,
        "nearest_m": nearest_m,
        "emd_paper": emd,
        "recall_50m": recall,
    }
    known = {figure: value for figure, value in given.items() if value is not None}
    return Ranked(
        **{
            "name": name,
            "rmse_db": Spread(rmse_db, rmse_db - 0.1, rmse_db + 0.1),
            "rmse_constant_db": 6.0,
            "skill_by_place": 0.5 if rmse_db < 6 else -0.2,
            "share_of_central": 0.6 if rmse_db < 6 else -0.3,
            "rmse_loss_db": rmse_db - 5.0,
            "points_share": 1.0,
            "strongest": {
                f: Strongest("search", Spread(v, v - off, v + off)) for f, v in known.items()
            },
            "over_targets": {f: (v / 2, v, 2 * v) for f, v in known.items()},
            "homes_at_worst_m": {} if home_m is None else {"0": home_m - off},
            "guess_homes_m": {},
            "chosen_on": "other seeds",
            "seeds": 3,
            "is_blind": False,
            "top_places": 5.0,
            "is_baseline": False,
            "is_on_frontier": "dominated_by" not in more,
            "dominated_by": None,
            "is_recommended": False,
            **more,
        }
    )


def guesses(**figures):
    """By figure, what each guess has: ``guesses(home_error_m={"blind": 566.0})``."""
    return {
        figure: tuple(Strongest(name, Spread(v, v, v)) for name, v in known.items())
        for figure, known in figures.items()
    }


def ranking(*configurations, failed=None):
    first, *others = configurations
    baseline = replace(first, is_baseline=True)
    return Ranking((baseline, *others), "home_error_m", failed or {})


def make_row(
    attack="search", seed=0, target="0", *, name="fedavg", rmse_db=5.0, **figures
) -> TrialRow:
    """A row of an audit in which search names home to 100 m."""
    usual = {
        "rounds": 3,
        "home_error_m": 100.0,
        "nearest_m": 20.0,
        "nearest_random_m": 200.0,
        "emd_m": 50.0,
        "cloud_emd_m": 40.0,
        "emd_random_m": 400.0,
        "emd_paper": 7.0,
        "distance_m": 60.0,
        "recall_50m": 0.4,
    }
    return TrialRow(
        name,
        attack,
        target,
        seed,
        map_figures(rmse_db),
        SentFigures(10.0, 1.0, 30.0, 5),
        Scores(**{**usual, **figures}),
        StartFigures(0.9, 80.0),
    )


def make_line(t, start_s=0.0, *, name="fedavg", attack="dlg", target="0", seed=0) -> TrialRound:
    """A line of an audit's history."""
    attacked = AttackedRound(
        attack,
        t,
        0,
        start_s,
        9,
        0.9,
        True,
        60.0,
        70.0,
        5,
        0.1,
        "converged",
        50.0,
        0.1,
        None,
        (3.0,),
    )
    return TrialRound(name, seed, target, attacked, 3.0, 55.0, 90.0, 5.0)
