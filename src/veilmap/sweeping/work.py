"""One run of a sweep at work: trained, attacked, or only counted."""

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from math import hypot, isfinite
from statistics import fmean
from typing import Any

import numpy as np
import polars as pl

from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import UserError
from veilmap.measurements import Measurements
from veilmap.metrics.transport import emd_paper
from veilmap.rounds import cut, parse_interval
from veilmap.study.attack_run import AttackRun
from veilmap.study.results import NO_ATTACK, result_row
from veilmap.study.trial import Trial, trial
from veilmap.sweeping.case import Case
from veilmap.sweeping.record import Record, Row

# An element of an update below this is small beside DP's noise in the paper's figure.
SMALL = 1e-4
_DECADES = range(-12, 2)


def run_case(case: Case, data: Mapping[str, Measurements]) -> Record:
    """Its figures; a failure is a record too, so that the other runs go on."""
    before = time.perf_counter()
    name = case.settings.configuration
    try:
        record = (_counted if case.counted else _tried)(case, data[case.data])
    except UserError as error:
        record = Record(name, case.seed, failed=str(error))
    except Exception as error:  # a sweep of hours must not end with one run
        why = f"{type(error).__name__}: {error}"
        record = Record(name, case.seed, failed=why, again=True)
    return replace(record, kept=tuple(sorted(case.keep)), seconds=time.perf_counter() - before)


def _tried(case: Case, data: Measurements) -> Record:
    done = trial(
        data,
        case.settings,
        case.attacks,
        area=case.area,
        same_round=case.same_round,
        past="past" in case.keep,
        keep_path="path" in case.keep,
        keep_updates="gradient" in case.keep,
    )
    record = Record(
        configuration=case.settings.configuration,
        seed=case.seed,
        rows=tuple(done.rows()),
        training=tuple(asdict(each) for each in done.run.history),
    )
    if "chosen" in case.keep:
        record = replace(record, chosen=_chosen(done, case.target))
    if "gradient" in case.keep:
        record = _with_gradient(record, done)
    return record if done.attacked is None else _with_attacks(record, done.attacked, case)


def _with_attacks(record: Record, attacked: AttackRun, case: Case) -> Record:
    rounds = [_line(attacked, name, starts) for name, starts in _by_round(attacked)]
    rows = [row | _extremes(attacked, row["attack"]) for row in record.rows]
    record = replace(record, rows=tuple(rows), rounds=tuple(rounds))
    if "found" in case.keep:
        found = {name: [_place(each) for each in every] for name, every in attacked.every.items()}
        record = replace(record, found=found)
    if "path" in case.keep and "dlg" in attacked.every:
        record = replace(record, path=_path(attacked.every["dlg"][0]))
    return record


def _by_round(attacked: AttackRun) -> list[tuple[str, list[Reconstruction]]]:
    """The starts of every attack on every round."""
    found: dict[tuple[str, int], list[Reconstruction]] = {}
    for name, every in attacked.every.items():
        for each in every:
            found.setdefault((name, each.round), []).append(each)
    return [(name, starts) for (name, _), starts in found.items()]


def _line(attacked: AttackRun, name: str, starts: list[Reconstruction]) -> Row:
    """A round's figures, means over the starts of the attack."""
    norms = attacked.norms[starts[0].round]
    away_m = _finite([_away_m(attacked, each) for each in starts])
    cosines = _finite([each.cosine for each in starts])
    return {
        "attack": name,
        "round": starts[0].round,
        "cosine": fmean(cosines) if cosines else None,
        "distance_m": fmean(away_m) if away_m else None,
        "distance_most_m": max(away_m, default=None),
        "iterations": fmean(each.iterations for each in starts),
        "norm": hypot(*norms),
        **{f"norm_layer_{i}": norm for i, norm in enumerate(norms, 1)},
    }


def _extremes(attacked: AttackRun, name: str) -> Row:
    """Over all rounds and all starts: the least cosine, and how far from the centroid at worst."""
    every = attacked.every[name]
    return {
        "cosine_least": min(_finite([each.cosine for each in every]), default=None),
        "distance_most_m": max(_finite([_away_m(attacked, e) for e in every]), default=None),
    }


def _away_m(attacked: AttackRun, each: Reconstruction) -> float:
    return float(np.linalg.norm(each.xy_m - (attacked.truth or {})[each.round].centroid_m))


def _finite(values: list[float]) -> list[float]:
    return [float(value) for value in values if isfinite(value)]


def _place(each: Reconstruction) -> list[float]:
    """Round, start, x, y; JSON has no infinity, so nowhere is a place far outside every area."""
    x, y = (float(value) if isfinite(value) else 1e12 for value in each.xy_m)
    return [each.round, each.start, round(x, 2), round(y, 2)]


def _path(each: Reconstruction) -> list[list[float]]:
    """Its places; a step to nowhere is none, and JSON cannot say it."""
    path_m = np.empty((0, 2)) if each.path_m is None else each.path_m
    places: list[list[float]] = path_m[np.isfinite(path_m).all(axis=1)].round(2).tolist()
    return places


def _chosen(done: Trial, target: str) -> dict[str, list[list[float]]]:
    batches = ((t, each[target]) for t, each in done.run.batches.items() if target in each)
    return {str(t): batch.xy_m.round(2).tolist() for t, batch in batches}


def _with_gradient(record: Record, done: Trial) -> Record:
    """How the elements of the updates are spread, mean over the rounds."""
    sizes = [np.abs(leaked_gradient(each)) for each in done.observations]
    if not sizes:
        raise UserError("nobody sent an update whose elements could be counted; leave out keep")
    small = fmean(float((each < SMALL).mean()) for each in sizes)
    lines = [
        {
            "attack": NO_ATTACK,
            "round": 0,
            "decade": decade,
            "share_below": fmean(float((each < 10.0**decade).mean()) for each in sizes),
        }
        for decade in _DECADES
    ]
    rows = tuple(row | {"small_share": small} for row in record.rows)
    return replace(record, rows=rows, gradient=tuple(lines))


def _counted(case: Case, data: Measurements) -> Record:
    """The target's rounds and points, and how far from the others they were."""
    mine = data.keep(pl.col("user") == case.target)
    if not len(mine):
        raise UserError(f"{case.target} is counted and does not take part; add it to the users")
    others = data.keep(pl.col("user") != case.target)
    rounds = cut(mine, parse_interval(case.settings.task.interval), data.first)
    figures: dict[str, Any] = {
        "measurements": len(mine),
        "rounds": len(rounds),
        "points": fmean(len(each.data[case.target]) for each in rounds),
        "user_emd": emd_paper(mine.xy_m, others.xy_m) if len(others) else None,
    }
    row = result_row("data", case.seed, target=case.target, **figures)
    return Record("data", case.seed, rows=(row,))
