"""The runs of an audit: which there are, which are there from before, and the rest."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

from veilmap.auditing.ranking import Ranked, rank_one
from veilmap.auditing.redaction import pseudonyms, refuse_named_users, without_names
from veilmap.auditing.settings import AuditSettings
from veilmap.auditing.store import Store
from veilmap.auditing.unit import Key, Result, Unit, run_unit
from veilmap.errors import UserError, refuse, shown
from veilmap.measurements import Measurements
from veilmap.model.device import torch_device
from veilmap.study.pool import run_all
from veilmap.study.prepare import Prepared, prepare
from veilmap.study.settings import RunSettings


@dataclass(frozen=True)
class Hooks:
    """Who is told how an audit gets on.

    Attributes:
        on_begin: the data prepared, the targets, how many units there are and how many are there
            from before.
        on_unit: after each unit.
        on_configuration: after each configuration whose last seed is finished.
        on_failed: instead, of one without figures: its name, and why.
        on_redacted: how many files with positions of an earlier audit were removed.
    """

    on_begin: Callable[[Prepared, tuple[str, ...], int, int], None] = lambda *facts: None
    on_unit: Callable[[Unit, Result], None] = lambda *done: None
    on_configuration: Callable[[Ranked], None] = lambda ranked: None
    on_failed: Callable[[str, str], None] = lambda name, why: None
    on_redacted: Callable[[int], None] = lambda files: None


class Work:
    """An audit whose settings, data and targets are checked."""

    def __init__(
        self,
        data: Measurements,
        settings: AuditSettings,
        runs: Mapping[str, RunSettings],
        redact: bool,
    ) -> None:
        self.settings, self.runs, self.redact = settings, runs, redact
        first = next(iter(runs.values()))
        # Once here, so that what is wrong with the data is said before anything is trained.
        self.prepared = prepare(data, first)
        self._data = self.prepared.data
        self.targets = _targets(self.prepared, settings)
        # What they are called in what is written.
        self.names = pseudonyms(self.targets) if redact else self.targets
        if redact:
            refuse_named_users(runs)
        _refuse_strangers(runs, self.prepared)

    def run(self, store: Store | None, jobs: int, hooks: Hooks) -> tuple[Result, ...]:
        """One result per configuration and seed, in the order of the panel."""
        units = self._units()
        kept = {unit.key: store.load(unit, self._data) for unit in units} if store else {}
        done = {key: result for key, result in kept.items() if result is not None}
        hooks.on_begin(self.prepared, self.targets, len(units), len(done))
        told: set[str] = set()
        self._tell(done, told, hooks)
        missing = [unit for unit in units if unit.key not in done]
        if missing:
            torch_device()  # without torch a finished audit can still be shown
        # Closed at once when it is left, because workers would go on until somebody notices.
        with closing(run_all(run_unit, missing, self._data, jobs)) as running:
            for unit, result in running:
                if self.redact and result.failed is not None:
                    told_others = without_names(result.failed, self._data.users)
                    result = replace(result, failed=told_others)
                if store is not None:
                    store.save(unit, self._data, result)
                done[unit.key] = result
                hooks.on_unit(unit, result)
                self._tell(done, told, hooks)
        return tuple(done[unit.key] for unit in units)

    def _units(self) -> list[Unit]:
        """Configuration by configuration, so that the first lines come early."""
        settings, seeds = self.settings, self.settings.seeds
        return [
            Unit(
                configuration=name,
                settings=replace(run, task=replace(run.task, seed=seed)),
                attacks=settings.attacks(seed),
                targets=self.targets,
                with_theory=seed == seeds[0],
                with_positions=seed == seeds[0] and not self.redact,
            )
            for name, run in self.runs.items()
            for seed in seeds
        ]

    def _tell(self, done: Mapping[Key, Result], told: set[str], hooks: Hooks) -> None:
        """Of every configuration whose seeds are all there, once."""
        for name in self.runs:
            own = [result for (owner, _), result in done.items() if owner == name]
            if name in told or len(own) < len(self.settings.seeds):
                continue
            told.add(name)
            why = next((each.failed for each in own if each.failed is not None), None)
            if why is None:
                hooks.on_configuration(rank_one([row for each in own for row in each.rows]))
            else:
                hooks.on_failed(name, why)


def _targets(prepared: Prepared, settings: AuditSettings) -> tuple[str, ...]:
    """Those asked for, or those with the most measurements."""
    users, wanted = prepared.data.users, settings.audit.target
    strangers = [user for user in wanted if user not in users]
    if strangers:
        more = ", …" if len(users) > 8 else ""
        raise UserError(
            f"user {shown(strangers[0])} has no measurement in cell {prepared.cell}; choose from: "
            f"{', '.join(users[:8])}{more}"
        )
    if settings.audit.targets > len(users):
        raise UserError(
            f"targets must be at most {len(users)}, the users of cell {prepared.cell}, got "
            f"{settings.audit.targets}"
        )
    return wanted or tuple(users[: settings.audit.targets])


def _refuse_strangers(runs: Mapping[str, RunSettings], prepared: Prepared) -> None:
    """Before anything is trained: who is to be defended must be there."""
    users = set(prepared.data.users)
    refuse(
        UserError(f"configuration {shown(name)}: user {shown(user)} has no measurement in the cell")
        for name, run in runs.items()
        for user in run.protection.defended
        if user not in users
    )
