"""An audit whose settings, data and targets are checked, and its trials."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from veilmap.auditing.attack_cost import cost_per_round_ms
from veilmap.auditing.redaction import read_without_places, refuse_named_users
from veilmap.auditing.settings import AuditSettings
from veilmap.auditing.targets import Targets, choose, rounds_by_user
from veilmap.errors import UserError, fault_of, refuse, shown
from veilmap.experiments.trial import Keep, Trial
from veilmap.measurements import Measurements
from veilmap.study.prepare import Prepared, prepare, refuse_unknown_users
from veilmap.study.settings import RunSettings


@dataclass(frozen=True)
class AuditPlan:
    """What is compared, on which data, and who is to be found.

    Attributes:
        settings: that decide it.
        runs: the configurations by name, the baseline first.
        prepared: the data, as the first configuration has them.
        chosen: the users to find.
        redact: no position is kept, and nothing that is written names a user.
    """

    settings: AuditSettings
    runs: Mapping[str, RunSettings]
    prepared: Prepared
    chosen: Targets
    redact: bool

    @classmethod
    def of(
        cls,
        data: Measurements,
        settings: AuditSettings,
        runs: Mapping[str, RunSettings],
        redact: bool,
    ) -> "AuditPlan":
        """Check settings and data, so that faults are reported before anything is trained."""
        if redact:
            data = replace(data, read_with=read_without_places(data.read_with))
        prepared = prepare(data, next(iter(runs.values())))
        per_round_ms = cost_per_round_ms(settings, runs, prepared.header)
        rounds = rounds_by_user(prepared)
        chosen = choose(rounds, settings.audit, prepared.cell, per_round_ms)
        if redact:
            refuse_named_users(runs)
        _refuse_unknown_users(runs, prepared)
        return cls(settings, runs, prepared, chosen, redact)

    @property
    def data(self) -> Measurements:
        """Of the cell."""
        return self.prepared.data

    @property
    def targets(self) -> tuple[str, ...]:
        """The users to find."""
        return self.chosen.users

    @cached_property
    def pseudonyms(self) -> dict[str, str]:
        """What users are called where their names must not be, the targets first: ``no. 1``."""
        users = dict.fromkeys([*self.targets, *self.data.users])
        return {user: f"no. {number}" for number, user in enumerate(users, 1)}

    @property
    def names(self) -> tuple[str, ...]:
        """What the targets are called in what is written."""
        if not self.redact:
            return self.targets
        return tuple(self.pseudonyms[user] for user in self.targets)

    def trials(self) -> list[Trial]:
        """Configuration by configuration, so that the first lines come early."""
        first = self.settings.seeds[0]
        # A report has the positions of the first seed.
        shown: set[Keep] = {"history"} if self.redact else {"history", "positions"}
        return [
            Trial(
                configuration=name,
                settings=replace(run, task=replace(run.task, seed=seed)),
                targets=self.targets,
                attacks=self.settings.attacks(seed),
                theory=seed == first,
                keep=frozenset(shown if seed == first else {"history"}),
            )
            for name, run in self.runs.items()
            for seed in self.settings.seeds
        ]


def _refuse_unknown_users(runs: Mapping[str, RunSettings], prepared: Prepared) -> None:
    """Before anything is trained: the users to be defended must take part."""
    refuse(
        UserError(f"configuration {shown(name)}: {fault}")
        for name, run in runs.items()
        for fault in fault_of(
            refuse_unknown_users, run.protection.defended, prepared.users, "be defended"
        )
    )
