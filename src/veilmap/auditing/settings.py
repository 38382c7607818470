"""Everything that decides an audit, as data."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Literal

from veilmap.attacks.gradient_matching.search import Search
from veilmap.attacks.methods import METHODS
from veilmap.auditing.base import AuditDlg, AuditHeatmap, AuditSplit, AuditTask, AuditTraining
from veilmap.errors import UserError, out_of_range, refuse, too_low
from veilmap.federation.plan import Training
from veilmap.rounds import Split
from veilmap.settings import ONE_OR_MORE, NamesMayBeNumbers
from veilmap.study.attack_notation import Methods, methods_of
from veilmap.study.attack_settings import AttackSettings, Who
from veilmap.study.configuration import Configurations, configurations_of
from veilmap.study.settings import RunSettings, SettingsFile, Task


@dataclass(frozen=True)
class Question(NamesMayBeNumbers):
    """What the audit compares, attacks and recommends.

    Attributes:
        configurations: what is compared, such as "fedavg + farthest:eps_m=50,num=20"; first the
            baseline. By default the given settings, and a panel of defences. In Python a step may
            be an object: MyStep(3), or ("fedsgd", MyStep(3), "centre").
        gan: also try the gan defence, which trains for minutes.
        seeds: number of seeds per configuration, counted up from the task's seed.
        method: the attacks to run: dlg, search, first_layer, heatmap, and those of installed
            packages, whose settings follow a colon: mine:depth=3.
        target: the users to find; by default those with the most measurements.
        targets: how many users to find, if none is named, or all: those with at least three rounds
            of data. By default as many of them as fit into about three minutes on two cores,
            counted by their rounds (docs/audit.md), at least one.
        every: attack every Nth round of a user, from the first.
        max_rmse_loss_db: largest acceptable loss of a recommended configuration, in dB.
        min_home_error_m: smallest acceptable home error of a recommended configuration, in metres.
        tower: latitude and longitude of the cell tower, to show it on the map.
    """

    configurations: Configurations = ()
    gan: bool = False
    seeds: int = 3
    method: Methods = METHODS
    target: Annotated[tuple[str, ...], ONE_OR_MORE] = ()
    targets: int | Literal["all"] | None = None
    every: int = 1
    max_rmse_loss_db: float | None = None
    min_home_error_m: float | None = None
    tower: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "configurations", configurations_of(self.configurations))
        object.__setattr__(self, "method", methods_of(self.method))
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        yield from too_low(1, seeds=self.seeds, every=self.every)
        if isinstance(self.targets, int):
            yield from too_low(1, targets=self.targets)
        for name in ("max_rmse_loss_db", "min_home_error_m"):
            value = getattr(self, name)
            if value is not None and not (isfinite(value) and value >= 0):
                yield out_of_range(name, "a number of at least 0", value)
        if len(set(self.target)) < len(self.target):
            yield UserError("target names a user twice; name each once")
        if self.target and self.targets is not None:
            yield UserError("give target or targets, not both: users by name, or how many")
        if self.gan and self.configurations:
            yield UserError("gan adds to the panel; with configurations of your own, name it there")
        if self.tower is not None and not (abs(self.tower[0]) <= 90 and abs(self.tower[1]) <= 180):
            yield out_of_range("tower", "latitude and longitude in degrees", self.tower)


@dataclass(frozen=True)
class AuditSettings(RunSettings):
    """The settings of one audit: a run's, the attacks', and the question; each a table in TOML."""

    task: AuditTask = field(default_factory=AuditTask)
    test: AuditSplit = field(default_factory=AuditSplit)
    training: AuditTraining = field(default_factory=AuditTraining)
    audit: Question = field(default_factory=Question)
    dlg: AuditDlg = field(default_factory=AuditDlg)
    search: Search = field(default_factory=Search)
    heatmap: AuditHeatmap = field(default_factory=AuditHeatmap)

    @property
    def run(self) -> RunSettings:
        """Those of a run alone."""
        return RunSettings(
            task=Task(**vars(self.task)),
            test=Split(**vars(self.test)),
            kriging=self.kriging,
            model=self.model,
            training=Training(**vars(self.training)),
            protection=self.protection,
            robustness=self.robustness,
        )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The root of each repetition's randomness."""
        return tuple(self.task.seed + n for n in range(self.audit.seeds))

    def attacks(self, seed: int) -> AttackSettings:
        """Those on one run, without a target."""
        who = Who(method=self.audit.method, every=self.audit.every, seed=seed)
        return AttackSettings(who, self.dlg, self.search, self.heatmap)


@dataclass(frozen=True)
class AuditFile(AuditSettings, SettingsFile):
    """The tables that a TOML file of an audit may hold; those of a run are among them."""
