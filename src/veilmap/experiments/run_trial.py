"""Runs one trial: prepares the data, trains, attacks every target, and makes the rows."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import hypot, isfinite
from pathlib import Path
from statistics import fmean
from traceback import walk_tb
from typing import Literal

import numpy as np
import polars as pl

from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.reconstruction import Reconstruction
from veilmap.errors import UserError
from veilmap.experiments.positions import positions_of
from veilmap.experiments.result import TrialResult
from veilmap.experiments.trial import Trial
from veilmap.federation.observation import Observation, Recorder
from veilmap.local_data import LocalData
from veilmap.measurements import Measurements
from veilmap.metrics.places import find_places
from veilmap.metrics.rows import (
    DataFigures,
    GradientShare,
    MapFigures,
    RoundMeans,
    SentFigures,
    StartFigures,
    TrialRound,
    TrialRow,
    UpdateFigures,
)
from veilmap.metrics.transport import emd_paper
from veilmap.rounds import cut, parse_interval
from veilmap.study.attack import attack
from veilmap.study.attack_files import attacked_round
from veilmap.study.attack_run import AttackRun
from veilmap.study.evidence.evidence import evidence_of
from veilmap.study.foreign_objects import foreign_bases, foreign_objects
from veilmap.study.prepare import prepare
from veilmap.study.results import NO_ATTACK
from veilmap.study.train import Run, train_prepared

# An element of an update below this is small beside DP's noise in the paper's figure.
SMALL = 1e-4
TOP_PLACES = 5
_DECADES = range(-12, 2)


def run_trial(trial: Trial, data: Mapping[str, Measurements]) -> TrialResult:
    """Its figures; a failure is a result too, so that the other trials continue.

    Args:
        trial: what to run.
        data: the measurements by the names that trials call them.
    """
    before = time.perf_counter()
    try:
        result = (_counted if trial.counted else _trained)(trial, data[trial.data])
    except UserError as error:
        result = TrialResult(trial.configuration, trial.seed, failed=str(error))
    except Exception as error:  # hours of work must not end with one trial
        why = f"{type(error).__name__}: {error}{_place(error, trial)}"
        result = TrialResult(trial.configuration, trial.seed, failed=why, again=True)
    seconds = time.perf_counter() - before
    return replace(result, kept=tuple(sorted(trial.keep)), seconds=seconds)


def _place(error: Exception, trial: Trial) -> str:
    """`` (mine.py:12)``: the innermost line in the module of an object that is not ours."""
    objects = foreign_objects(trial.settings, trial.attacks)
    kinds = [kind for each in objects for kind in (each, *foreign_bases(each))]
    packages = {kind.__module__.partition(".")[0] for kind in kinds}
    places = [
        f" ({Path(frame.f_code.co_filename).name}:{line})"
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] in packages
    ]
    return places[-1] if places else ""


def _trained(trial: Trial, data: Measurements) -> TrialResult:
    run, seen = _train(trial, data)
    attacked = _attack_all(trial, run, seen)
    elements = [np.abs(leaked_gradient(each)) for each in seen] if _all_updates(trial) else None
    return TrialResult(
        configuration=trial.configuration,
        seed=trial.seed,
        rows=tuple(_rows(trial, run, attacked, elements)),
        guesses=tuple(row for each in attacked for row in _guesses(trial, run, each)),
        priors=tuple(dict.fromkeys(each.prior for each in attacked)),
        history=tuple(_history(trial, run, attacked)) if "history" in trial.keep else (),
        rounds=tuple(means for each in attacked for means in _round_means(each)),
        training=run.history,
        steps=run.defences,
        gradient=() if elements is None else tuple(_shares(elements)),
        oracle=tuple(dict.fromkeys(name for each in attacked for name in each.oracle)),
        unread=tuple(dict.fromkeys(name for each in attacked for name in each.unread)),
        positions=positions_of(trial, run, attacked),
    )


def _train(trial: Trial, data: Measurements) -> tuple[Run, Sequence[Observation]]:
    """The run, and no more of the updates than is read: half a megabyte each add up."""
    prepared = prepare(data, trial.settings)
    if trial.area is not None:
        prepared = prepared.in_area(trial.area)
    if trial.same_round is not None:
        prepared = trial.same_round.apply(prepared)
    recorder = Recorder(() if _all_updates(trial) else trial.targets)
    is_read = trial.attacks is not None or _all_updates(trial)
    observer = recorder if is_read else None
    run = train_prepared(prepared, observer, past="past" in trial.keep, keep=trial.targets)
    return run, recorder.observations


def _all_updates(trial: Trial) -> bool:
    return "gradient" in trial.keep


def _attack_all(trial: Trial, run: Run, seen: Sequence[Observation]) -> list[AttackRun]:
    attacks = trial.attacks
    if attacks is None:
        return []
    known = evidence_of(run.prepared, seen, run.batches, run.signal_map.state)
    theory: Literal[False, "theorem 1"] = "theorem 1" if trial.theory else False
    return [
        attack(
            known,
            replace(attacks, who=replace(attacks.who, target=target)),
            theory=theory,
            keep_path="path" in trial.keep,
        )
        for target in trial.targets
    ]


def _rows(
    trial: Trial, run: Run, attacked: Sequence[AttackRun], elements: Sequence[np.ndarray] | None
) -> Iterator[TrialRow]:
    figures = _map_figures(run)
    updates = None if elements is None else _update_figures(elements)
    name, seed = trial.configuration, trial.seed
    if trial.attacks is None:
        yield TrialRow(name, NO_ATTACK, None, seed, figures, updates=updates)
    for each in attacked:
        sent = _sent_figures(trial, run, each)
        for method, scores in each.scores.items():
            scores = replace(scores, places=())  # positions are kept apart
            starts = _start_figures(each, method)
            yield TrialRow(name, method, each.target, seed, figures, sent, scores, starts, updates)


def _guesses(trial: Trial, run: Run, attacked: AttackRun) -> Iterator[TrialRow]:
    figures, sent = _map_figures(run), _sent_figures(trial, run, attacked)
    for name, scores in attacked.guesses.items():
        scores = replace(scores, places=())
        key = trial.configuration, name, attacked.target, trial.seed
        yield TrialRow(*key, figures, sent, scores)


def _map_figures(run: Run) -> MapFigures:
    gaps_db = [
        record.rmse_past_db - record.rmse_db
        for record in run.history
        if record.rmse_past_db is not None
    ]
    return MapFigures(**run.map_figures, rmse_past_gap_db=fmean(gaps_db) if gaps_db else None)


def _sent_figures(trial: Trial, run: Run, attacked: AttackRun) -> SentFigures:
    truth = LocalData.join(list((attacked.truth or {}).values()))
    found = next(iter(attacked.found.values()))
    sent = [each.n for each in found]
    # A cumulative update has the points of all rounds before.
    trained = sent[-1] if trial.settings.training.cumulative else sum(sent)
    batches = [run.batches[each.round][attacked.target] for each in found]
    return SentFigures(
        points=fmean(sent),
        points_share=trained / len(truth),
        points_std_m=fmean(float(each.xy_m.std(axis=0).mean()) for each in batches),
        true_places=len(find_places(truth.xy_m, most=TOP_PLACES)),
    )


def _start_figures(attacked: AttackRun, name: str) -> StartFigures:
    every = attacked.every[name]
    return StartFigures(
        cosine_least=min(_finite([each.cosine for each in every]), default=None),
        distance_most_m=max(_finite([_away_m(attacked, e) for e in every]), default=None),
    )


def _history(trial: Trial, run: Run, attacked: Sequence[AttackRun]) -> Iterator[TrialRound]:
    """Of several starts the best."""
    largest_m = max(run.prepared.plan.scaler.scale_m)
    rmse_db = {record.round: record.rmse_db for record in run.history}
    for one in attacked:
        for name, found in one.found.items():
            for each in found:
                line = attacked_round(one, name, each)
                centroid_m = run.batches[each.round][one.target].centroid_m
                trained_m = float(np.linalg.norm(each.xy_m - centroid_m))
                bound_std = line.bound_1_std
                yield TrialRound(
                    configuration=trial.configuration,
                    seed=trial.seed,
                    target=one.target,
                    attacked=line,
                    norm=hypot(*one.norms[each.round]),
                    distance_trained_m=trained_m if isfinite(trained_m) else None,
                    bound_m=None if bound_std is None else bound_std * largest_m,
                    rmse_db=rmse_db[each.round],
                )


def _round_means(attacked: AttackRun) -> Iterator[RoundMeans]:
    """Over the starts of every attack on every round."""
    starts: dict[tuple[str, int], list[Reconstruction]] = {}
    for name, every in attacked.every.items():
        for each in every:
            starts.setdefault((name, each.round), []).append(each)
    for (name, t), own in starts.items():
        away_m = _finite([_away_m(attacked, each) for each in own])
        cosines = _finite([each.cosine for each in own])
        yield RoundMeans(
            attack=name,
            round=t,
            cosine=fmean(cosines) if cosines else None,
            distance_m=fmean(away_m) if away_m else None,
            distance_most_m=max(away_m, default=None),
            iterations=fmean(each.iterations for each in own),
            norm=hypot(*attacked.norms[t]),
            layer_norms=attacked.norms[t],
        )


def _away_m(attacked: AttackRun, each: Reconstruction) -> float:
    return float(np.linalg.norm(each.xy_m - (attacked.truth or {})[each.round].centroid_m))


def _finite(values: list[float]) -> list[float]:
    return [float(value) for value in values if isfinite(value)]


def _update_figures(elements: Sequence[np.ndarray]) -> UpdateFigures:
    if not elements:
        raise UserError("no update was sent, so its elements cannot be counted; leave out keep")
    return UpdateFigures(_share_below(elements, SMALL))


def _shares(elements: Sequence[np.ndarray]) -> Iterator[GradientShare]:
    """How the elements of the updates are spread."""
    return (GradientShare(decade, _share_below(elements, 10.0**decade)) for decade in _DECADES)


def _share_below(elements: Sequence[np.ndarray], bound: float) -> float:
    return fmean(float((each < bound).mean()) for each in elements)


def _counted(trial: Trial, data: Measurements) -> TrialResult:
    """Each target's rounds and points, and how far from the others they were."""
    rows = [_data_row(trial, data, target) for target in trial.targets]
    return TrialResult(trial.configuration, trial.seed, rows=tuple(rows))


def _data_row(trial: Trial, data: Measurements, target: str) -> TrialRow:
    mine = data.keep(pl.col("user") == target)
    if not len(mine):
        raise UserError(f"{target} is counted and does not take part; add it to the users")
    others = data.keep(pl.col("user") != target)
    rounds = cut(mine, parse_interval(trial.settings.task.interval), data.first)
    figures = DataFigures(
        measurements=len(mine),
        rounds=len(rounds),
        points=fmean(len(each.data[target]) for each in rounds),
        user_emd=emd_paper(mine.xy_m, others.xy_m) if len(others) else None,
    )
    return TrialRow(trial.configuration, NO_ATTACK, target, trial.seed, data=figures)
