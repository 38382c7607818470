"""Everything that decides a run, as data."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import PlainValidator

from veilmap.defences.combinations import cumulative_faults
from veilmap.errors import Checked, UserError, fault_of, not_among, out_of_range, refuse, too_low
from veilmap.federation.map_family import MapFamily, papers_network
from veilmap.federation.plan import Training, family_faults
from veilmap.federation.side_knowledge import configuration_name, scheme_text
from veilmap.geo import box_faults
from veilmap.maps.families import MAP_FAMILIES, checked_map
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.notation import name_and_values, settings_of
from veilmap.rounds import Split, parse_interval
from veilmap.settings import NamesMayBeNumbers, group, parse
from veilmap.shell import option_name
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.study.protection import Protection
from veilmap.study.robustness import Robustness
from veilmap.wording import listed

if TYPE_CHECKING:
    MapSetting = str | MapFamily
else:
    # For options a text; objects of Python pass through.
    MapSetting = Annotated[str, PlainValidator(lambda given: given)]


@dataclass(frozen=True)
class Task(Checked, NamesMayBeNumbers):
    """What is learned, and the public constants of it.

    Attributes:
        cell: the cell tower; by default the one with the most measurements.
        map: the kind of map: kriging, veilmap's own; network, the paper's; or one of those that
            veilmap methods lists, with its settings after a colon. Those of kriging and the layers
            of the network are options of their own. In Python also an object.
        interval: T, the duration of a round.
        area: west, south, east, north of the public area in degrees; by default the bounding box
            of the cell's measurements, which only a simulation can know.
        scaler: ``area`` standardises positions by the public area, as a deployment must;
            ``fitted`` by mean and spread of all users' data, as in the paper.
        label_offset_dbm: the public mean from which labels are taken as deviations. ``mean`` takes
            the training data's mean rounded to 1 dB in its place; ``none`` is the paper's setting.
        seed: root seed of all random streams.
    """

    cell: str | None = None
    map: MapSetting = KrigingMap.name
    interval: str = "1w"
    area: tuple[float, float, float, float] | None = None
    scaler: Literal["area", "fitted"] = "area"
    label_offset_dbm: float | Literal["mean", "none"] = "mean"
    seed: int = 0

    def _faults(self) -> Iterator[UserError]:
        yield from fault_of(parse_interval, self.interval)
        # What is wrong with settings depends on the others, which have a table of their own.
        if self.own_values is None:
            yield from fault_of(self.family, Network(), KrigingMap())
        yield from not_among("scaler", self.scaler, ("area", "fitted"))
        if isinstance(self.label_offset_dbm, str):
            yield from not_among("label_offset_dbm", self.label_offset_dbm, ("mean", "none"))
        elif not isfinite(self.label_offset_dbm):
            yield out_of_range("label_offset_dbm", "a finite number", self.label_offset_dbm)
        if self.area is not None:
            yield from box_faults("area", self.area)
        yield from too_low(0, seed=self.seed)

    def family(self, network: Network, kriging: KrigingMap) -> MapFamily:
        """The kind of map; ``network`` has the layers of the paper's, ``kriging`` what is ours."""
        if not isinstance(self.map, str):
            return checked_map(self.map)
        if self.own_values is None:
            return MAP_FAMILIES.of_text(self.map)
        if name_and_values(self.map)[0] == KrigingMap.name:
            return parse(KrigingMap, {**vars(kriging), **self.own_values}, KrigingMap.name)
        given = {**vars(network), **self.own_values}
        return NetworkMap.of(parse(Network, given, NetworkMap.name))

    @property
    def own_values(self) -> dict[str, str | list[str]] | None:
        """The settings after ``network:`` or ``kriging:``; None for another map, or an object."""
        if not isinstance(self.map, str):
            return None
        name, values = name_and_values(self.map)
        kind = {NetworkMap.name: Network, KrigingMap.name: KrigingMap}.get(name)
        return None if kind is None else settings_of(values, kind)

    @property
    def centre(self) -> tuple[str, ...]:
        """The part of a configuration's name for labels around a public mean."""
        if self.label_offset_dbm in ("none", 0):
            return ()
        if self.label_offset_dbm == "mean":
            return ("centre",)
        return (f"centre:offset_dbm={self.label_offset_dbm:g}",)

    @property
    def oracle(self) -> tuple[str, ...]:
        """What is taken from the users' own data, which no real server has."""
        taken = {
            "area": self.area is None,
            "scaler": self.scaler == "fitted" or self.area is None,
            "label_offset_dbm": self.label_offset_dbm == "mean",
        }
        return tuple(name for name, is_taken in taken.items() if is_taken)


@dataclass(frozen=True)
class NetworkTask(Task):
    """For what only the paper's network does."""

    map: MapSetting = NetworkMap.name


@dataclass(frozen=True)
class RunSettings:
    """The settings of one run; each part is a table in TOML."""

    task: Task = field(default_factory=Task)
    test: Split = field(default_factory=Split)
    kriging: KrigingMap = field(default_factory=KrigingMap)
    model: Network = field(default_factory=Network)
    training: Training = field(default_factory=Training)
    protection: Protection = field(default_factory=Protection)
    robustness: Robustness = field(default_factory=Robustness)

    def __post_init__(self) -> None:
        refuse(family_faults(self.map, self.training, self.protection.steps))
        # Settings of our maps have one place, whether they came from there, a text, or an object.
        if layers := papers_network(self.map):
            object.__setattr__(self, "model", Network(**vars(layers)))
            object.__setattr__(self, "task", replace(self.task, map=NetworkMap.name))
        elif isinstance(self.map, KrigingMap):
            object.__setattr__(self, "kriging", self.map)
            object.__setattr__(self, "task", replace(self.task, map=KrigingMap.name))
        if self.training.cumulative:
            refuse(cumulative_faults(self.protection.steps))

    @classmethod
    def of(cls, **keywords: Any) -> Self:
        """From flat keywords: ``RunSettings.of(cell="x204", epochs=1, defence=("diverse",))``."""
        tables = group(cls, keywords, "settings")
        for kind, table in ((NetworkMap, "model"), (KrigingMap, "kriging")):
            if isinstance(keywords.get("map"), kind) and table in tables:
                raise UserError(
                    f"the map has settings of its own; leave out {', '.join(tables[table])}, or map"
                )
        return parse(cls, tables, "settings")

    @property
    def map(self) -> MapFamily:
        """The kind of map that is made."""
        return self.task.family(self.model, self.kriging)

    @property
    def configuration(self) -> str:
        """The scheme and the defences by name: ``fedavg + diverse:eps_m=50 + centre``.

        Those that are on some phones only are followed by their users' names, in brackets.
        """
        parts = [*self.protection.texts, *self.task.centre]
        return configuration_name(
            scheme_text(self.map, self.training), parts, self.protection.defended
        )

    @property
    def oracle(self) -> tuple[str, ...]:
        """What is taken from the users' own data, which no real server or phone has."""
        return self.task.oracle + self.protection.oracle


# Settings of how a phone trains, and of how a server takes and combines what it trained.
_OF_UPDATES = (
    *("epochs", "batch_size", "learning_rate"),
    *("aggregation", "trimmed_share", "most_norm"),
)


def unused_settings(settings: RunSettings) -> Iterator[UserError]:
    """Errors for settings that were changed and that the kind of map does not have."""
    usual, family = RunSettings(), settings.map
    if isinstance(family, KrigingMap):
        changed = _changed(settings.model, usual.model)
        for name in ("training", "robustness"):
            of_table = _changed(getattr(settings, name), getattr(usual, name))
            changed += [each for each in of_table if each in _OF_UPDATES]
        way_out = f"train the paper's network with --map {NetworkMap.name}"
    else:
        changed = _changed(settings.kriging, usual.kriging)
        way_out = f"take --map {KrigingMap.name}"
    if changed:
        names = listed([option_name(name) for name in changed])
        yield UserError(f"the map {family.name} has no setting {names}; leave out, or {way_out}")


def _changed(settings: Any, usual: Any) -> list[str]:
    return [name for name, value in vars(settings).items() if value != getattr(usual, name)]


@dataclass(frozen=True)
class SettingsFile(RunSettings):
    """The tables that a TOML file may hold: a run, and how its measurements are read."""

    columns: Columns = field(default_factory=Columns)
    reading: Reading = field(default_factory=Reading)
