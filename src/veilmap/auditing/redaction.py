"""What may be shown to others: no place that somebody wrote into settings, and no user's name."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from veilmap.auditing.settings import AuditSettings
from veilmap.errors import UserError
from veilmap.experiments.result import TrialResult
from veilmap.study.settings import RunSettings


def refuse_named_users(runs: Mapping[str, RunSettings]) -> None:
    """Raise if settings name users in what an audit's configurations are called by."""
    for run in runs.values():
        if run.protection.defended or run.robustness.broken:
            option = "--defended" if run.protection.defended else "--broken"
            raise UserError(
                f"{option} names users, and with --redact no name may be written; leave one of the "
                "two out"
            )


def renamed(result: TrialResult, names: Mapping[str, str]) -> TrialResult:
    """The same of users by other names."""
    return replace(
        result,
        rows=tuple(replace(row, target=names[str(row.target)]) for row in result.rows),
        guesses=tuple(replace(row, target=names[str(row.target)]) for row in result.guesses),
        history=tuple(replace(line, target=names[line.target]) for line in result.history),
        training=tuple(
            replace(each, refused={names[user]: why for user, why in each.refused.items()})
            for each in result.training
        ),
    )


def without_people(result: TrialResult, users: Iterable[str]) -> TrialResult:
    """A result without positions, which earlier audits kept, and without a name in its failure."""
    return replace(
        result,
        failed=None if result.failed is None else without_names(result.failed, users),
        positions=None,
        kept=tuple(each for each in result.kept if each != "positions"),
    )


def without_names(text: str, users: Iterable[str]) -> str:
    """A message in which no user is named."""
    longest_first = sorted(users, key=len, reverse=True)
    pattern = "|".join(re.escape(user) for user in longest_first)
    return re.sub(rf"(?<!\w)({pattern})(?!\w)", "…", text)


@contextmanager
def errors_without_names(users: Iterable[str]) -> Iterator[None]:
    """Errors in the block name no user: neither the one asked for nor those to choose from."""
    try:
        yield
    except UserError as error:
        raise UserError(without_names(str(error), users)) from None


def without_places(settings: AuditSettings) -> AuditSettings:
    """No area, no tower, and no target by name."""
    audit = settings.audit
    return replace(
        settings,
        task=replace(settings.task, area=None),
        audit=replace(audit, tower=None, target=(), targets=len(audit.target) or audit.targets),
    )


def run_without_places(run: RunSettings) -> RunSettings:
    """No area."""
    return replace(run, task=replace(run.task, area=None))


def read_without_places(read_with: Mapping[str, Any]) -> dict[str, Any]:
    """How a file was read, without the box that rows had to lie in."""
    reading = {key: value for key, value in read_with.get("reading", {}).items() if key != "box"}
    return {**read_with, "reading": reading}


_NAMING = ("--area", "--box", "--tower", "--target")


def command_without_places(command: str) -> str:
    """A command line without the options that name a place or a user, and their values."""
    kept, is_place = [], False
    for word in shlex.split(command):
        if re.match(r"--[a-z]", word):
            is_place = word.partition("=")[0] in _NAMING
        if not is_place:
            kept.append(word)
    return shlex.join(kept)
