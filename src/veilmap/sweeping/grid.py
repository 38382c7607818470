"""From a spec to its runs: every combination of the values it goes over, every seed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from veilmap.errors import UserError, shown
from veilmap.experiments.trial import SameRound, Trial
from veilmap.study.attack_settings import AttackSettings
from veilmap.study.configuration import configure
from veilmap.study.settings import RunSettings
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
    for keys, values in combinations(runs.over):
        filled = _Filled(runs, {"name": runs.name, **keys}, {"target": cohort.target, **values})
        roles = filled.roles  # outside: a fault of the spec is none of the data
        try:
            users = cohort.users(roles)
        except UserError as error:
            yield from (Planned(filled.keys, seed, why_not=str(error)) for seed in seeds)
            continue
        for seed in seeds:
            yield Planned(filled.keys, seed, users, filled.trial(cohort, users, seed))


def combinations(over: Mapping[str, Values]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every combination: what it is called, and the values themselves."""
    named = {
        name: list(values.items()) if isinstance(values, dict) else [(v, v) for v in values]
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


@dataclass(frozen=True)
class _Filled:
    """One combination of a part of the grid."""

    runs: Runs
    keys: Mapping[str, Any]
    values: Mapping[str, Any]

    @property
    def roles(self) -> list[str]:
        return [str(fill(role, self.values)) for role in self.runs.users]

    def trial(self, cohort: Cohort, users: tuple[str, ...], seed: int) -> Trial:
        runs, settings = self.runs, self._settings(seed)
        only, is_counted = runs.only_round, runs.measures == "data"
        return Trial(
            configuration="data" if is_counted else settings.configuration,
            settings=settings,
            targets=(cohort.target,),
            attacks=self._attacks(cohort, seed) if runs.measures == "attack" else None,
            area=cohort.area,
            same_round=None if only is None else SameRound(only, runs.times),
            counted=is_counted,
            keep=frozenset(runs.keep),
            data="+".join(users),
        )

    def _settings(self, seed: int) -> RunSettings:
        flat = {name: fill(value, self.values) for name, value in self.runs.settings.items()}
        return configure(
            RunSettings.of(**flat, seed=seed), str(fill(self.runs.configuration, self.values))
        )

    def _attacks(self, cohort: Cohort, seed: int) -> AttackSettings:
        flat = {name: fill(value, self.values) for name, value in self.runs.attacks.items()}
        if self.runs.label is not None:
            flat["label_dbm"] = cohort.mean_dbm(str(fill(self.runs.label, self.values)), seed)
        return AttackSettings.of(**flat, target=cohort.target, seed=seed)
