"""Everything that decides a comparison of maps, as data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator

from veilmap.errors import Checked, UserError, fault_of, out_of_range, refuse, shown, too_low
from veilmap.federation.map_family import MapFamily
from veilmap.map_quality.predictors import CENTRAL, CONSTANT
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.metrics.map_errors import THRESHOLD_DBM
from veilmap.rounds import Split, SplitName
from veilmap.strategy import as_text
from veilmap.study.settings import RunSettings, Task

MAPS = (NetworkMap.name, KrigingMap.name)
# A few rows more or less would change every figure.
LEAST_ROWS = 50

if TYPE_CHECKING:
    MapsSetting = tuple[str | MapFamily, ...]
else:  # parsers of files and command lines see texts
    MapsSetting = Annotated[
        tuple[str, ...],
        PlainValidator(lambda given: tuple(given) if isinstance(given, list | tuple) else (given,)),
    ]


@dataclass(frozen=True)
class Question(Checked):
    """What is compared.

    Attributes:
        maps: the federated maps, each with its settings after a colon; in Python also objects.
            Those of kriging and the layers of the paper's network are options of their own.
            veilmap methods lists all kinds.
        seeds: number of seeds, counted up from the task's seed; a seed decides the split and every
            other draw.
        threshold_dbm: a place whose mean signal is lower has no coverage, in dBm.
    """

    maps: MapsSetting = MAPS
    seeds: int = 3
    threshold_dbm: float = THRESHOLD_DBM

    def _faults(self) -> Iterator[UserError]:
        yield from too_low(1, int, seeds=self.seeds)
        if not isfinite(self.threshold_dbm):
            yield out_of_range("threshold_dbm", "a finite number of dBm", self.threshold_dbm)


@dataclass(frozen=True)
class QualitySplit(Split):
    """Whole sessions: rows of one drive or walk are near copies of each other."""

    split: SplitName = "session"


@dataclass(frozen=True)
class QualitySettings(RunSettings):
    """The settings of one comparison: those of a run, and the question; each a table in TOML."""

    test: QualitySplit = field(default_factory=QualitySplit)
    quality: Question = field(default_factory=Question)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        if self.task.map != Task.map:
            given = shown(self.task.map)
            yield UserError(f"quality compares several maps, got map {given}; name it in --maps")
        faults = [*self._map_faults()]
        yield from faults
        if not faults:
            names = [*CENTRAL, CONSTANT, *self.runs]
            if len(self.runs) < len(self.quality.maps) or len(set(names)) < len(names):
                maps = ", ".join(map(_text, self.quality.maps))
                yield UserError(f"each map must have a name of its own, got {maps}; leave one out")

    def _map_faults(self) -> Iterator[UserError]:
        for given in self.quality.maps:
            yield from fault_of(self._run_of, given)

    @cached_property
    def runs(self) -> Mapping[str, RunSettings]:
        """Those of a run of each federated map, by its name."""
        return {_text(given): self._run_of(given) for given in self.quality.maps}

    @property
    def base(self) -> RunSettings:
        """Those of a run alone, which decide the split and the rounds."""
        return self._run_of(Task.map)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The root of each repetition's randomness."""
        return tuple(self.task.seed + n for n in range(self.quality.seeds))

    @property
    def predictors(self) -> tuple[str, ...]:
        """All that are compared, by name."""
        return (CONSTANT, *CENTRAL, *self.runs)

    def _run_of(self, given: str | MapFamily) -> RunSettings:
        parts = {each.name: getattr(self, each.name) for each in fields(RunSettings)}
        parts |= {"task": replace(self.task, map=given), "test": Split(**vars(self.test))}
        return RunSettings(**parts)


def _text(given: Any) -> str:
    if isinstance(given, NetworkMap | KrigingMap):
        return given.name  # their settings are options of their own
    return given if isinstance(given, str) else as_text(given)
