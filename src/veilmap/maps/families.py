"""Map families by name, and how they stand in files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from veilmap.errors import UserError, refuse, shown
from veilmap.federation.map_family import MapFamily
from veilmap.federation.plan import SCHEMES
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.registry import Registry
from veilmap.settings import parse, plain

VERBS = (MapFamily.start, MapFamily.answer, MapFamily.combine, MapFamily.predict)
# In a configuration a scheme and centre stand beside a map; no text makes the others of ours.
MAP_FAMILIES: Registry[MapFamily] = Registry(
    "map",
    {"network": NetworkMap, "kriging": KrigingMap},
    VERBS,
    reserved=(*SCHEMES, "centre", "torch", "missing"),
)


def checked_map(given: object) -> MapFamily:
    """An object of the user's own as a family.

    Raises:
        UserError: it is a class, no frozen dataclass, has no name, lacks a verb, or has settings
            that no text can hold.
    """
    if isinstance(given, Network) and not isinstance(given, NetworkMap):
        raise UserError("Network has the layers alone; write map=NetworkMap(…) with the same ones")
    refuse(MAP_FAMILIES.faults(given))
    return cast("MapFamily", given)


def map_record(family: MapFamily) -> dict[str, Any]:
    """For JSON: the name and the settings."""
    if isinstance(family, MissingMap):
        return {"name": family.called, **family.settings}
    return {"name": family.name, **plain(family)}


def map_of_record(record: object) -> MapFamily:
    """What ``map_record`` gave; a family that is not installed can still be named."""
    if not isinstance(record, Mapping) or not isinstance(record.get("name"), str):
        raise UserError(f"map must be an object with a name, got {shown(record)}; add the name")
    name, settings = record["name"], {key: record[key] for key in record if key != "name"}
    if name not in MAP_FAMILIES.names:
        return MissingMap(name, settings)
    return checked_map(parse(MAP_FAMILIES.class_of(name), settings, f"map {shown(name)}"))


def own_map_of_record(record: object) -> MapFamily:
    """As ``map_of_record``, but of other packages' families it imports none."""
    name = record.get("name") if isinstance(record, Mapping) else None
    if isinstance(record, Mapping) and isinstance(name, str) and name not in MAP_FAMILIES.own:
        return MissingMap(name, {key: record[key] for key in record if key != "name"})
    return map_of_record(record)


def is_own(family: MapFamily) -> bool:
    """Whether it is one of our families, which all sides have."""
    return type(family) in MAP_FAMILIES.own.values()


def map_of_file(recorded: MapFamily, given: object | None) -> MapFamily:
    """The family of a run's files, or the same as the object that a caller gives for it."""
    if given is None:
        return recorded
    family = checked_map(given)
    there, here = (json.dumps(map_record(each)) for each in (recorded, family))
    if there != here:
        raise UserError(f"map must be the one of the run, {there}, got {here}; give the same")
    return family


@dataclass(frozen=True)
class MissingMap:
    """A family of a file whose class is not installed here."""

    called: str
    settings: Mapping[str, Any]

    name = "missing"

    def start(self, *given: Any) -> NoReturn:
        """Not without the class."""
        raise UserError(
            f"the map {shown(self.called)} is of a family that is not installed; install the "
            "package that registers it, or give the object in Python: map=…"
        )

    answer = combine = predict = start
