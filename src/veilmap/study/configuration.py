"""Configurations by name, as a study lists them: ``fedavg + farthest:eps_m=50,num=20 + centre``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from veilmap.errors import UserError, unknown_choice
from veilmap.federation.plan import SCHEMES, Training
from veilmap.notation import name_and_values, split_steps, with_units
from veilmap.settings import parse, plain
from veilmap.study.protection import Protection
from veilmap.study.settings import RunSettings, Task

CENTRE = "centre"


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


def configure(settings: RunSettings, text: str) -> RunSettings:
    """The settings under a configuration: a scheme, then steps, and centre among them.

    A scheme sets B, E and whether training is cumulative; ``fedavg:learning_rate=1e-5`` also what
    it names. The steps, and the users after them if any are named, replace those of the settings.
    ``centre`` sets the labels' offset; without it they stay as the settings have them.
    """
    text, users = _without_users(text)
    scheme, *parts = split_steps(text)
    steps = tuple(part for part in parts if name_and_values(part)[0] != CENTRE)
    defended = users or settings.protection.defended
    protection = Protection(steps, defended) if steps else Protection()
    return replace(
        settings,
        task=_task(settings.task, parts),
        training=_training(settings.training, scheme),
        protection=protection,
    )


def _without_users(text: str) -> tuple[str, tuple[str, ...]]:
    """The text up to ``(on 0, 2)``, and the users in it."""
    match = re.fullmatch(r"(.*) \(on (.+)\)", text)
    return (match[1], tuple(match[2].split(", "))) if match else (text, ())


def _training(training: Training, text: str) -> Training:
    name, values = name_and_values(text)
    if name not in SCHEMES:
        raise unknown_choice("scheme", name, SCHEMES)
    return parse(Training, {**plain(training), **SCHEMES[name], **values}, name)


def _task(task: Task, parts: Sequence[str]) -> Task:
    centres = [values for name, values in map(name_and_values, parts) if name == CENTRE]
    if len(centres) > 1:
        raise UserError(f"a configuration has one centre at most, got {len(centres)}")
    for values in centres:
        task = parse(Centre, with_units(values, Centre), CENTRE).apply(task)
    return task
