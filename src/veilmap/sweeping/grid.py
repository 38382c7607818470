"""From a spec to its runs: every combination of the values it goes over, every seed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from veilmap.defences.step import JOINED_BY
from veilmap.errors import UserError, shown
from veilmap.experiments.trial import SameRound, Trial
from veilmap.strategy import is_named
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import Configuration, configuration_text, configure
from veilmap.study.settings import RunSettings
from veilmap.study.step_notation import as_tuple
from veilmap.sweeping.cohort import Cohort
from veilmap.sweeping.spec import Runs, Values


@dataclass(frozen=True)
class Planned:
    """A run by its keys, the values that claims and pictures know it by.

    ``trial`` is None where the data do not allow the run; ``why_not`` says why.
    """

    keys: Mapping[str, Any]
    seed: int
    users: tuple[str, ...] = ()
    trial: Trial | None = None
    why_not: str = ""


def planned(runs: Runs, cohort: Cohort, seeds: Sequence[int]) -> Iterator[Planned]:
    """The runs of one part of the grid.

    Raises:
        UserError: a setting of the spec is wrong, whatever the data.
    """
    for named, filling in combinations(runs.over):
        keys, values = {"name": runs.name, **named}, {"target": cohort.target, **filling}
        # Outside the try: a fault of the spec must not be reported as one of the data.
        roles = [str(fill(role, values)) for role in runs.users]
        try:
            users = cohort.users(roles)
        except UserError as error:
            yield from (Planned(keys, seed, why_not=str(error)) for seed in seeds)
            continue
        for seed in seeds:
            yield Planned(keys, seed, users, _trial(runs, values, cohort, users, seed))


def combinations(over: Mapping[str, Values]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every combination: what it is called, and the values themselves."""
    named = {
        name: list(values.items())
        if isinstance(values, dict)
        else [(_known_as(value), value) for value in values]
        for name, values in over.items()
    }
    for pairs in product(*named.values()):
        together = list(zip(named, pairs, strict=True))
        filling: dict[str, Any] = {}
        for name, (_, value) in together:
            filling |= value if isinstance(value, dict) else {name: value}
        yield {name: called for name, (called, _) in together}, filling


def fill(text: Any, values: Mapping[str, Any]) -> Any:
    """``{eps_m}`` replaced by its value; alone in the text, it keeps its type."""
    if not isinstance(text, str):
        return text
    alone = re.fullmatch(r"\{(\w+)\}", text)
    try:
        return values[alone[1]] if alone else text.format_map(values)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        raise UserError(
            f"cannot fill {shown(text)}: {error}; it may use: {', '.join(values) or 'nothing'}"
        ) from None


def filled_configuration(given: Configuration, values: Mapping[str, Any]) -> Configuration:
    """The configuration with its values; an object stays one, also where a text names its place."""
    texts = [
        text
        for part in as_tuple(given)
        for text in (part.split(JOINED_BY) if isinstance(part, str) else [part])
    ]
    parts = [part for text in texts for part in as_tuple(fill(text, values))]
    if any(map(is_named, parts)):
        return tuple(part if is_named(part) else str(part) for part in parts)
    return JOINED_BY.join(map(str, parts))


def _known_as(value: Any) -> Any:
    """What tables and claims call a value; objects are called by their text."""
    is_object = is_named(value) or (isinstance(value, tuple) and any(map(is_named, value)))
    return configuration_text(value) if is_object else value


def _trial(
    runs: Runs, values: Mapping[str, Any], cohort: Cohort, users: tuple[str, ...], seed: int
) -> Trial:
    flat = {name: fill(value, values) for name, value in runs.settings.items()}
    configuration = filled_configuration(runs.configuration, values)
    settings = configure(RunSettings.of(**flat, seed=seed), configuration)
    only, is_counted = runs.only_round, runs.measures == "data"
    return Trial(
        configuration="data" if is_counted else settings.configuration,
        settings=settings,
        targets=(cohort.target,),
        attacks=_attacks(runs, values, cohort, seed) if runs.measures == "attack" else None,
        area=cohort.area,
        same_round=None if only is None else SameRound(only, runs.times),
        counted=is_counted,
        keep=frozenset(runs.keep),
        # A name that the measurements of no other cohort have.
        data=f"{cohort.data.source} {cohort.data.cells[0]} {'+'.join(users)}",
    )


def _attacks(runs: Runs, values: Mapping[str, Any], cohort: Cohort, seed: int) -> AttackSettings:
    flat = {name: fill(value, values) for name, value in runs.attacks.items()}
    if runs.label is not None:
        flat["label_dbm"] = cohort.mean_dbm(str(fill(runs.label, values)), seed)
    return AttackSettings.of(**flat, target=cohort.target, seed=seed)
