"""A sweep made small, to see that everything runs: its numbers mean nothing."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import polars as pl

from veilmap.experiments.trial import Trial
from veilmap.measurements import Measurements
from veilmap.rounds import parse_interval
from veilmap.study.attack_settings import AttackSettings
from veilmap.sweeping.grid import Planned
from veilmap.sweeping.spec import Runs, Spec, Values

_WEEK_S = parse_interval("1w")
_WEEKS, _ROWS = 3, 1200  # kept of everybody's measurements
_STARTS, _TIMES = 2, 3
_ITERATIONS = 60
_COARSE_M = 150.0


def quick_spec(spec: Spec) -> Spec:
    """Of every list of values the first and the last."""
    return replace(spec, runs=tuple(_quick_runs(each) for each in spec.runs))


def quick_data(data: Measurements, target: str) -> Measurements:
    """The first weeks of the target, thinned."""
    begin = data.keep(pl.col("user") == target).first
    end = begin + timedelta(weeks=_WEEKS)
    data = data.keep(pl.col("time").is_between(begin, end, closed="left"))
    row, of_all = pl.int_range(pl.len()).over("user"), pl.len().over("user")
    return data.keep(row % (of_all // _ROWS + 1) == 0)


def quick_plan(plan: Planned) -> Planned:
    """Few steps of DLG, coarse maps, and one attacked round in a week."""
    return plan if plan.trial is None else replace(plan, trial=_quick_trial(plan.trial))


def _quick_runs(runs: Runs) -> Runs:
    # A GAN's thousands of steps are a setting of its step.
    configuration = runs.configuration.replace("gan:", "gan:max_steps=10,")
    over = {name: _ends(values) for name, values in runs.over.items()}
    times = min(runs.times, _TIMES)
    return replace(runs, configuration=configuration, over=over, times=times)


def _ends(values: Values) -> Values:
    if isinstance(values, dict):
        names = list(values)
        return {name: values[name] for name in dict.fromkeys((names[0], names[-1]))}
    return values if len(values) < 3 else [values[0], values[-1]]


def _quick_trial(trial: Trial) -> Trial:
    attacks = None if trial.attacks is None else _quick_attacks(trial.attacks, trial)
    return replace(trial, attacks=attacks)


def _quick_attacks(attacks: AttackSettings, trial: Trial) -> AttackSettings:
    rounds_in_a_week = round(_WEEK_S / parse_interval(trial.settings.task.interval))
    every = 1 if trial.same_round else max(rounds_in_a_week, 1)
    dlg, heatmap = attacks.dlg, attacks.heatmap
    few: Mapping[str, Any] = {
        "starts": min(dlg.starts, _STARTS),
        "max_iterations": min(dlg.max_iterations, _ITERATIONS),
    }
    return replace(
        attacks,
        who=replace(attacks.who, every=every),
        dlg=replace(dlg, **few),
        heatmap=replace(heatmap, grid_cells=40, finest_m=_COARSE_M),
    )
