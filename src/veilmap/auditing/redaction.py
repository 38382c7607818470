"""Settings without the places that a user wrote into them."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from veilmap.auditing.settings import AuditSettings
from veilmap.study.settings import RunSettings


def without_places(settings: AuditSettings) -> AuditSettings:
    """No area, no tower."""
    return replace(
        settings,
        task=replace(settings.task, area=None),
        audit=replace(settings.audit, tower=None),
    )


def run_without_places(run: RunSettings) -> RunSettings:
    """No area."""
    return replace(run, task=replace(run.task, area=None))


def read_without_places(read_with: Mapping[str, Any]) -> dict[str, Any]:
    """How a file was read, without the box that rows had to lie in."""
    reading = {key: value for key, value in read_with.get("reading", {}).items() if key != "box"}
    return {**read_with, "reading": reading}


def command_without_places(command: str) -> str:
    """A command line without the options that name a place, and their values."""
    kept, is_place = [], False
    for word in shlex.split(command):
        if re.match(r"--[a-z]", word):
            is_place = word.partition("=")[0] in ("--area", "--box", "--tower")
        if not is_place:
            kept.append(word)
    return shlex.join(kept)
