"""A sweep made small, to see that everything runs: its numbers mean nothing."""

from dataclasses import replace
from datetime import timedelta

import polars as pl

from veilmap.experiments.trial import Trial
from veilmap.measurements import Measurements
from veilmap.rounds import parse_interval
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.step_notation import as_tuple
from veilmap.sweeping.grid import Planned
from veilmap.sweeping.spec import Runs, Spec, Values

_WEEK_S = parse_interval("1w")
_WEEKS, _ROWS = 3, 1200  # kept of all users' measurements
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
    trial = plan.trial
    if trial is None or trial.attacks is None:
        return plan
    return replace(plan, trial=replace(trial, attacks=_quick_attacks(trial.attacks, trial)))


def _quick_runs(runs: Runs) -> Runs:
    # A GAN's thousands of steps are a setting of its step.
    configuration = tuple(
        part.replace("gan:", "gan:max_steps=10,") if isinstance(part, str) else part
        for part in as_tuple(runs.configuration)
    )
    over = {name: _ends(values) for name, values in runs.over.items()}
    times = min(runs.times, _TIMES)
    return replace(runs, configuration=configuration, over=over, times=times)


def _ends(values: Values) -> Values:
    if isinstance(values, dict):
        return {name: values[name] for name in _ends(list(values))}
    return values if len(values) < 3 else [values[0], values[-1]]


def _quick_attacks(attacks: AttackSettings, trial: Trial) -> AttackSettings:
    rounds_in_a_week = round(_WEEK_S / parse_interval(trial.settings.task.interval))
    every = 1 if trial.same_round else max(rounds_in_a_week, 1)
    dlg, heatmap = attacks.dlg, attacks.heatmap
    starts, iterations = min(dlg.starts, _STARTS), min(dlg.max_iterations, _ITERATIONS)
    return replace(
        attacks,
        who=replace(attacks.who, every=every),
        dlg=replace(dlg, starts=starts, max_iterations=iterations),
        heatmap=replace(heatmap, grid_cells=40, finest_m=_COARSE_M),
    )
