"""Algorithm 1 on a table of measurements: the run behind ``veilmap train``."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.errors import UserError
from veilmap.federation.evaluation import Evaluation
from veilmap.federation.plan import Plan
from veilmap.federation.server import Observe, federate
from veilmap.local_data import LocalData, Round, Scaler
from veilmap.measurements import Measurements
from veilmap.model.threads import one_thread
from veilmap.rounds import cumulative, cut, parse_interval, pooled
from veilmap.signal_map.signal_map import MapFacts, SignalMap
from veilmap.study.results import result_row, results
from veilmap.study.run_folder import RunFolder, versions
from veilmap.study.settings import RunSettings, Task
from veilmap.transcript import Header, SideKnowledge, TranscriptWriter


@dataclass(frozen=True)
class Prepared:
    """Measurements and settings turned into what the federation needs."""

    settings: RunSettings
    data: Measurements
    plan: Plan
    area: Area
    rounds: tuple[Round, ...]
    users: tuple[str, ...]
    test: LocalData
    rmse_constant_db: float

    @property
    def cell(self) -> str:
        return str(self.data.table["cell"][0])

    @property
    def header(self) -> Header:
        """What the server knows besides the updates."""
        known = SideKnowledge(
            self.plan.scaler,
            self.area,
            self.data.projection.epsg,
            self.plan.label_offset_dbm,
            self.plan.training,
            parse_interval(self.settings.task.interval),
        )
        return Header(self.plan.network, known)


@dataclass(frozen=True)
class RoundRecord:
    """One line of a run's history. ``rmse_past_db`` is on the data of all earlier rounds."""

    round: int
    start_s: float
    users: int
    n: int
    rmse_db: float
    rmse_past_db: float | None
    seconds: float


@dataclass(frozen=True)
class Run:
    """A finished run: its map, its history, and what it was made of."""

    prepared: Prepared
    history: tuple[RoundRecord, ...]
    signal_map: SignalMap

    @property
    def rmse_db(self) -> float:
        """On the test set, after the last round."""
        return self.history[-1].rmse_db

    def results(self) -> dict[str, Any]:
        """What ``results.json`` holds."""
        plan = self.prepared.plan
        row = result_row(
            plan.training.name,
            plan.seed,
            rounds=len(self.history),
            rmse_db=self.rmse_db,
            rmse_constant_db=self.prepared.rmse_constant_db,
            seconds=sum(record.seconds for record in self.history),
        )
        return results(self.settings_record(), [row], [asdict(record) for record in self.history])

    def settings_record(self) -> dict[str, Any]:
        """The settings as given and as resolved, the data, the versions."""
        prepared = self.prepared
        return {
            **prepared.settings.as_dict(),
            "resolved": {
                "configuration": prepared.plan.training.name,
                "cell": prepared.cell,
                "users": len(prepared.users),
                "rounds": len(prepared.rounds),
                "test_points": len(prepared.test),
                "area_m": asdict(prepared.area),
                "epsg": prepared.data.projection.epsg,
                "scaler": asdict(prepared.plan.scaler),
                "label_offset_dbm": prepared.plan.label_offset_dbm,
            },
            "data": {
                "source": prepared.data.source,
                "rows": len(prepared.data),
                "timezone": prepared.data.timezone,
                "fingerprint": prepared.data.fingerprint,
            },
            "versions": versions(),
        }


Floats = NDArray[np.float32]
OnRound = Callable[[RoundRecord], None]


def train(
    data: Measurements | Prepared,
    settings: RunSettings | None = None,
    *,
    out: str | Path | None = None,
    on_round: OnRound | None = None,
    past: bool = False,
    **keywords: Any,
) -> Run:
    """Train the signal map of one cell by online federated learning.

    Args:
        data: the measurements of all users and cells, or what ``prepare`` made of them.
        settings: everything that decides the run; or give ``keywords`` instead, such as
            ``cell="x204", interval="1w", epochs=5, batch_size=20, learning_rate=1e-3, seed=0``.
        out: a folder for the model, the transcript, the settings and the results.
        on_round: called with each round's record as soon as it is there.
        past: also measure the RMSE on the data of all earlier rounds (the forgetting study).
        **keywords: single settings by name, instead of ``settings``.
    """
    if (settings is not None) + bool(keywords) + isinstance(data, Prepared) > 1:
        raise UserError("train takes settings, or keywords, or prepared data, not two of them")
    if isinstance(data, Measurements):
        data = prepare(data, settings or RunSettings.of(**keywords))
    folder = None if out is None else RunFolder(out)
    writer = None if folder is None else TranscriptWriter(folder.transcript, data.header)
    history = []
    weights = data.plan.network.initialise(data.plan.seed)
    with one_thread(), writer or nullcontext():
        for record, after in _rounds(data, None if writer is None else writer.write, past):
            weights = after
            history.append(record)
            if on_round:
                on_round(record)
    run = Run(data, tuple(history), SignalMap(_facts(data), weights))
    if folder is not None:
        folder.write(run.signal_map, run.settings_record(), run.results())
    return run


def prepare(data: Measurements, settings: RunSettings) -> Prepared:
    """Pick the cell, set test data aside, cut the rest into rounds, fix the public footing."""
    task = settings.task
    of_cell = data.of_cell(task.cell)
    training, test = settings.test.apply(of_cell, task.seed)
    rounds = cut(training, parse_interval(task.interval), of_cell.first)
    area = _area(of_cell, task)
    points = pooled(training)
    mean_dbm = float(points.rsrp_dbm.mean())
    scaler = Scaler.of_area(area) if task.scaler == "area" else Scaler.fitted(points.xy_m)
    plan = Plan(
        settings.model, scaler, settings.training, _label_offset_dbm(task, mean_dbm), task.seed
    )
    test_points = pooled(test)
    constant = float(np.sqrt(np.mean((test_points.rsrp_dbm - mean_dbm) ** 2)))
    users = tuple(sorted(training.users))
    return Prepared(settings, of_cell, plan, area, rounds, users, test_points, constant)


def _rounds(
    prepared: Prepared, observe: Observe | None, past: bool
) -> Iterator[tuple[RoundRecord, Floats]]:
    """Each round's record and the weights after it."""
    plan, test = prepared.plan, Evaluation(prepared.plan, prepared.test)
    rounds = cumulative(prepared.rounds) if plan.training.cumulative else prepared.rounds
    earlier: list[LocalData] = []
    federation = federate(plan, rounds, prepared.users, observe)
    for this in prepared.rounds:
        before = time.perf_counter()
        result = next(federation)
        seconds = time.perf_counter() - before
        past_db = _rmse_db(plan, earlier, result.weights) if earlier else None
        rmse_db = test.rmse_db(result.weights)
        n = sum(result.n)
        yield (
            RoundRecord(this.number, this.start_s, len(result.users), n, rmse_db, past_db, seconds),
            result.weights,
        )
        if past:
            earlier += this.data.values()


def _rmse_db(plan: Plan, pieces: list[LocalData], weights: Floats) -> float:
    return Evaluation(plan, LocalData.join(pieces)).rmse_db(weights)


def _area(data: Measurements, task: Task) -> Area:
    if task.area is not None:
        return data.projection.area_of_box(*task.area)
    return Area.around(data.table.select("x_m", "y_m").to_numpy())


def _label_offset_dbm(task: Task, mean_dbm: float) -> float:
    if task.label_offset_dbm == "mean":
        return float(round(mean_dbm))
    return 0.0 if task.label_offset_dbm == "none" else float(task.label_offset_dbm)


def _facts(prepared: Prepared) -> MapFacts:
    plan = prepared.plan
    return MapFacts(
        prepared.cell,
        plan.network,
        plan.scaler,
        plan.label_offset_dbm,
        prepared.area,
        prepared.data.projection,
    )
