"""Algorithm 1 on a table of measurements: the run behind ``veilmap train``."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from joblib import cpu_count

from veilmap.errors import UserError, refuse, refuse_several
from veilmap.federation import verbs
from veilmap.federation.evaluation import Evaluation, joint_rmse_db
from veilmap.federation.observation import Observer
from veilmap.federation.plan import Plan
from veilmap.federation.server import RoundResult, federate
from veilmap.federation.trainer import OnDevice, OnThreads, Trainer
from veilmap.federation.update_validation import NOT_FINITE
from veilmap.local_data import LocalData, Truth
from veilmap.measurements import Measurements
from veilmap.metrics.rows import RoundRecord
from veilmap.model.device import DeviceName, torch_device, torch_for
from veilmap.model.threads import one_thread
from veilmap.output import held
from veilmap.signal_map.signal_map import MapFacts, SignalMap
from veilmap.strategy import as_text
from veilmap.study.phones import StepSummary, summarise
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.results import result_row, results, settings_record
from veilmap.study.run_folder import RunFolder
from veilmap.study.settings import RunSettings, unused_settings
from veilmap.transcript import TranscriptWriter


@dataclass(frozen=True)
class Run:
    """A finished run: its map, its history, what its phones did, and what it was made of.

    ``batches`` are the points trained on, of those users of whom they were to be kept; ``device``
    is where the phones' training was computed.
    """

    prepared: Prepared
    history: tuple[RoundRecord, ...]
    signal_map: SignalMap
    defences: tuple[StepSummary, ...] = ()
    batches: Truth = field(default_factory=dict, repr=False)
    device: DeviceName = "cpu"

    @property
    def rmse_db(self) -> float:
        """On the test set, after the last round."""
        return self.history[-1].rmse_db

    @property
    def map_figures(self) -> dict[str, Any]:
        """How good the map is on the test set, beside the constant and central kriging."""
        last = self.history[-1]
        return {
            "rmse_db": last.rmse_db,
            "rmse_constant_db": self.prepared.rmse_constant_db,
            "rmse_by_place_db": last.rmse_by_place_db,
            "skill_by_place": last.skill_by_place,
            "share_of_central": self.prepared.yardstick.share_of_central(last.skill_by_place),
        }

    def results(self) -> dict[str, Any]:
        """What ``results.json`` holds."""
        plan = self.prepared.plan
        row = result_row(
            self.prepared.settings.configuration,
            plan.seed,
            rounds=len(self.history),
            **self.map_figures,
            seconds=sum(record.seconds for record in self.history),
        )
        history = [record.as_dict() for record in self.history]
        content = results(settings_record(self.prepared, self.device), [row], history)
        return {**content, "defences": [asdict(step) for step in self.defences]}


OnRound = Callable[[RoundRecord], None]


def train(
    data: Measurements | Prepared,
    settings: RunSettings | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    on_round: OnRound | None = None,
    past: bool = False,
    device: DeviceName = "cpu",
    **keywords: Any,
) -> Run:
    """Train the signal map of one cell by online federated learning.

    Args:
        data: the measurements of all users and cells, or what ``prepare`` made of them.
        settings: everything that decides the run; or give ``keywords`` instead, such as
            ``cell="x204", interval="1w", epochs=5, batch_size=20, learning_rate=1e-3, seed=0``,
            and ``defence=["farthest:eps_m=50,num=20"]`` with ``defended=["0"]``.
        out: a folder for the model, the transcript, the settings and the results.
        overwrite: replace a finished run in that folder, which stays until this one is finished.
        on_round: called with each round's record as soon as it is there.
        past: also measure the RMSE on the data of all earlier rounds (the forgetting study).
        device: where phones are trained: on all cores of the processor, or many at once on a GPU
            ("cuda"). The weights differ by rounding only.
        **keywords: single settings by name, instead of ``settings``.

    Raises:
        UserError: a setting or the data do not allow a run, or training diverged.
    """
    prepared = isinstance(data, Prepared)
    refuse_several("train", settings=settings, keywords=keywords, prepared_data=prepared)
    trainer: Trainer = OnThreads(cpu_count())
    if device != "cpu":
        trainer = OnDevice(torch_device(device))
    folder = None if out is None else RunFolder(out)
    with held(None if folder is None else folder.path):
        if folder is not None and not overwrite:
            folder.refuse_finished()
        if isinstance(data, Measurements):
            settings = settings or RunSettings.of(**keywords)
            refuse(unused_settings(settings))
            torch_for(settings.map, device)
            data = prepare(data, settings)
        if folder is None:
            return train_prepared(data, None, on_round, past, trainer=trainer, device=device)
        try:
            writer = TranscriptWriter(folder.unfinished, data.header)
            run = train_prepared(data, writer, on_round, past, trainer=trainer, device=device)
            folder.replace(run.signal_map, run.results())
            return run
        finally:
            folder.drop_unfinished()


def train_prepared(
    prepared: Prepared,
    observer: Observer | None = None,
    on_round: OnRound | None = None,
    past: bool = False,
    keep: Sequence[str] = (),
    trainer: Trainer = OnThreads(1),
    device: DeviceName = "cpu",
) -> Run:
    """Train in memory; ``observer`` sees what the server sees.

    The points that the users in ``keep`` trained on are kept, for comparisons. By default one
    phone is trained after the other, because comparisons have a process on every core.
    ``device`` is where ``trainer`` computes.
    """
    history, diary, batches = [], [], {}
    plan = prepared.plan
    state = verbs.start(plan)
    with one_thread():
        for record, result in _rounds(prepared, observer, past, trainer):
            _refuse_diverged(record, plan)
            state = result.state
            history.append(record)
            diary.append(result.reports)
            batches[result.round] = {u: result.batches[u] for u in keep if u in result.batches}
            if on_round:
                on_round(record)
    projection, offset_dbm = prepared.data.projection, plan.label_offset_dbm
    facts = MapFacts(plan.cell, plan.map, plan.scaler, offset_dbm, plan.area, projection)
    defences = summarise(plan.defence.steps, diary)
    return Run(prepared, tuple(history), SignalMap(facts, state), defences, batches, device)


def _refuse_diverged(record: RoundRecord, plan: Plan) -> None:
    """Raise if the map predicts no finite value, or no phone but broken ones could train."""
    honest = [why for user, why in record.refused.items() if user not in plan.broken]
    if not isfinite(record.rmse_db):
        why = f"RMSE {record.rmse_db}"
    elif not isfinite(record.rmse_past_db or 0):
        why = f"RMSE {record.rmse_past_db} on earlier rounds"
    elif NOT_FINITE in honest and not record.users:
        why = f"no update is usable: {NOT_FINITE}"
    else:
        return
    steps = ", ".join(as_text(step) for step in plan.defence.steps)
    noise = f", or what the defence adds: {steps}" if steps else ""
    raise UserError(
        f"training diverged in round {record.round} ({why}); lower "
        f"--learning-rate, now {plan.training.learning_rate:g}{noise}"
    )


def _rounds(
    prepared: Prepared, observer: Observer | None, past: bool, trainer: Trainer
) -> Iterator[tuple[RoundRecord, RoundResult]]:
    """Each round's record and its result."""
    plan, test = prepared.plan, Evaluation(prepared.plan, prepared.test)
    federation = federate(plan, prepared.training_rounds, prepared.users, observer, trainer)
    earlier: list[Evaluation] = []
    for this in prepared.rounds:
        before = time.perf_counter()
        result = next(federation)
        seconds = time.perf_counter() - before
        past_db = joint_rmse_db(earlier, result.state) if earlier else None
        errors = test.errors(result.state)
        record = RoundRecord(
            round=result.round,
            start_s=result.start_s,
            users=len(result.users),
            n=sum(result.n),
            rmse_db=errors.rmse_db,
            rmse_by_place_db=errors.rmse_by_place_db,
            skill_by_place=prepared.yardstick.skill(errors).by_place,
            rmse_past_db=past_db,
            seconds=seconds,
            refused=result.refused,
        )
        yield record, result
        if past:
            earlier.append(Evaluation(plan, LocalData.join(list(this.data.values()))))
