"""All predictors on the split of one seed."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from joblib import cpu_count

from veilmap.federation.trainer import OnThreads
from veilmap.map_quality.predictors import CENTRAL, CONSTANT, Fit, Kind, Predict, all_rows, constant
from veilmap.map_quality.rows import CurvePoint, Judge, QualityRow, with_shares
from veilmap.map_quality.settings import QualitySettings
from veilmap.measurements import Measurements
from veilmap.model.threads import one_thread
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.settings import RunSettings
from veilmap.study.train import train_prepared

OnDone = Callable[[str, int], None]


@dataclass(frozen=True)
class ComparedSeed:
    """The figures of one seed, and the predictors that made them."""

    prepared: Prepared
    rows: tuple[QualityRow, ...]
    curve: tuple[CurvePoint, ...]
    predict: Mapping[str, Predict]


def compare_seed(
    data: Measurements, settings: QualitySettings, seed: int, on_done: OnDone
) -> ComparedSeed:
    """Fit the central predictors, train the federated maps, and judge all on the same test data."""
    prepared = prepare(data, _seeded(settings.base, seed))
    threshold_dbm = settings.quality.threshold_dbm
    judge = Judge.of(prepared.test, all_rows(prepared.rounds), threshold_dbm, seed)
    rows: list[QualityRow] = []
    curve: list[CurvePoint] = []
    predict: dict[str, Predict] = {}

    def judged(name: str, row: QualityRow, fitted: Predict) -> None:
        rows.append(row)
        predict[name] = fitted
        on_done(name, seed)

    judged(CONSTANT, *_central(CONSTANT, constant, prepared, judge))
    for name, fit in CENTRAL.items():
        judged(name, *_central(name, fit, prepared, judge))
    for name, run in settings.runs.items():
        row, fitted, points = _federated(name, _with_map(prepared, run), judge)
        curve += points
        judged(name, row, fitted)
    return ComparedSeed(prepared, with_shares(rows), tuple(curve), predict)


def _central(name: str, fit: Fit, prepared: Prepared, judge: Judge) -> tuple[QualityRow, Predict]:
    before = time.perf_counter()
    with one_thread():
        predict = fit(prepared.rounds, judge.seed)
        predict(judge.test.xy_m)
        seconds = time.perf_counter() - before
        kind: Kind = "baseline" if name == CONSTANT else "central"
        return judge.row(name, kind, predict, seconds), predict


def _federated(
    name: str, prepared: Prepared, judge: Judge
) -> tuple[QualityRow, Predict, list[CurvePoint]]:
    """Trained as it is set, and judged after every round."""
    run = train_prepared(prepared, trainer=OnThreads(cpu_count()))
    predict = run.signal_map.predict
    seconds = sum(record.seconds for record in run.history)
    curve = [CurvePoint(name, judge.seed, record) for record in run.history]
    return judge.row(name, "federated", predict, seconds), predict, curve


def _seeded(run: RunSettings, seed: int) -> RunSettings:
    return replace(run, task=replace(run.task, seed=seed))


def _with_map(prepared: Prepared, run: RunSettings) -> Prepared:
    """The same data, split and rounds for another map."""
    run = _seeded(run, prepared.plan.seed)
    return replace(prepared, settings=run, plan=replace(prepared.plan, map=run.map))
