"""Configurations by name, as a study lists them: ``fedavg + farthest:eps_m=50,num=20 + centre``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainValidator

from veilmap.defences.step import JOINED_BY, Step
from veilmap.errors import UserError, shown, unknown_choice
from veilmap.federation.map_family import MapFamily
from veilmap.federation.plan import SCHEMES, Training
from veilmap.maps.families import MAP_FAMILIES, VERBS
from veilmap.maps.kriging_map import KrigingMap
from veilmap.maps.network_map import NetworkMap
from veilmap.model.network import Network
from veilmap.notation import name_and_values, settings_of
from veilmap.settings import parse, plain
from veilmap.strategy import as_text
from veilmap.study.protection import Protection
from veilmap.study.settings import RunSettings, Task
from veilmap.study.step_notation import CENTRE, DEFENCES, as_tuple, parts_of, step_of

Part = str | Step | MapFamily
Configuration = Part | tuple[Part, ...]


def configurations_of(given: Any) -> tuple[Configuration, ...]:
    """From one or several; each is a text, a step, or a list of both."""
    return tuple(tuple(each) if isinstance(each, list) else each for each in as_tuple(given))


if TYPE_CHECKING:
    Configurations = tuple[Configuration, ...]
    OneConfiguration = Configuration
else:  # parsers of files and command lines see texts
    Configurations = Annotated[tuple[str, ...], PlainValidator(configurations_of)]
    OneConfiguration = Annotated[str, PlainValidator(lambda given: configurations_of([given])[0])]


@dataclass(frozen=True)
class Centre:
    """Our own defence: the network learns the deviation from a public mean.

    With raw labels all residuals have one sign while the network has not learned the mean, which
    is what lets an attacker add them up; around the mean they cancel.

    Attributes:
        offset_dbm: the public mean; by default that of the training data, rounded to 1 dB.
    """

    offset_dbm: float | None = None

    def apply(self, task: Task) -> Task:
        """The task with these labels."""
        return replace(
            task, label_offset_dbm="mean" if self.offset_dbm is None else self.offset_dbm
        )


def configure(settings: RunSettings, configuration: Configuration) -> RunSettings:
    """The settings under a configuration: a map or a scheme, then steps, and centre among them.

    A scheme sets B, E and whether training is cumulative; ``fedavg:learning_rate=1e-5`` also what
    it names. A map, such as ``network`` or one of another package, may have a scheme after it; a
    scheme without a map trains the network where the settings' map is not trained. The
    steps, and the users after them if any are named, replace those of the settings. ``centre`` sets
    the labels' offset; without it they stay as the settings have them.

    A map or a step of one's own stands as an object, ``MyStep(3)``, which keeps the scheme of the
    settings, or among texts: ``("fedsgd", MyStep(3), "centre")``.
    """
    given, users = _without_users(configuration)
    parts = [part for each in as_tuple(given) for part in parts_of(each)]
    task, training, parts = _begun(settings, parts)
    for part in filter(_is_late_map, parts):
        raise UserError(
            f"a configuration begins with its map, got {shown(part)} later; write it first"
        )
    centres = [part for part in parts if isinstance(part, str) and _is_centre(part)]
    steps = tuple(part for part in parts if part not in centres)
    defended = users or settings.protection.defended
    protection = Protection(steps, defended) if steps else Protection()
    return replace(settings, task=_task(task, centres), training=training, protection=protection)


def configuration_text(configuration: Configuration) -> str:
    """For messages."""
    parts = as_tuple(configuration)
    return JOINED_BY.join(
        each if isinstance(each, str) else as_text(each if _is_map(each) else step_of(each))
        for each in parts
    )


def _without_users(given: Configuration) -> tuple[Configuration, tuple[str, ...]]:
    """A text up to ``(on 0, 2)``, and the users in it."""
    match = re.fullmatch(r"(.*) \(on (.+)\)", given) if isinstance(given, str) else None
    return (match[1], tuple(match[2].split(", "))) if match else (given, ())


def _is_centre(text: str) -> bool:
    return name_and_values(text)[0] == CENTRE


def _begun(settings: RunSettings, parts: Sequence[Any]) -> tuple[Task, Training, list[Any]]:
    """The task with its map and the training that a configuration begins with; the other parts."""
    task, training, rest = settings.task, settings.training, list(parts)
    has_map = bool(rest) and _is_map(rest[0])
    if has_map:
        task = replace(task, map=rest.pop(0))
    if rest and isinstance(rest[0], str) and name_and_values(rest[0])[0] in SCHEMES:
        training = _training(training, rest.pop(0))
        if isinstance(task.family(settings.model, settings.kriging), KrigingMap) and not has_map:
            task = replace(task, map=NetworkMap.name)
    elif not has_map and (not rest or isinstance(rest[0], str)):
        name = name_and_values(rest[0])[0] if rest else ""
        raise unknown_choice("scheme", name, (*SCHEMES, *MAP_FAMILIES.names))
    return task, training, rest


def _is_map(part: object) -> bool:
    if isinstance(part, str):
        return name_and_values(part)[0] in MAP_FAMILIES.names
    kind = part if isinstance(part, type) else type(part)
    return issubclass(kind, Network) or all(hasattr(kind, verb.__name__) for verb in VERBS)


def _is_late_map(part: object) -> bool:
    is_defence = isinstance(part, str) and name_and_values(part)[0] in (CENTRE, *DEFENCES.names)
    return not is_defence and _is_map(part)


def _training(training: Training, text: str) -> Training:
    name, values = name_and_values(text)
    return parse(Training, {**plain(training), **SCHEMES[name], **values}, name)


def _task(task: Task, centres: Sequence[str]) -> Task:
    if len(centres) > 1:
        raise UserError(f"a configuration has one centre at most, got {len(centres)}")
    for text in centres:
        _, values = name_and_values(text)
        task = parse(Centre, settings_of(values, Centre), CENTRE).apply(task)
    return task
