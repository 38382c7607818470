"""The figures of a spec as rows with the keys of their runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from veilmap.experiments.result import TrialResult
from veilmap.metrics.figure_names import OF_DLG, OF_NO_ATTACK
from veilmap.study.results import NO_ATTACK
from veilmap.sweeping.claims import Claim, Table
from veilmap.sweeping.decision import Decision, decide
from veilmap.sweeping.selection import SweepRow, Where, fits

DLG = "dlg"


class KeyedResult(NamedTuple):
    """A run, and the values of the grid that claims and pictures know it by."""

    keys: Mapping[str, Any]
    result: TrialResult


@dataclass(frozen=True)
class SpecResult:
    """Every run of a spec with its keys."""

    runs: tuple[KeyedResult, ...]

    def rows(self, table: Table = "runs") -> list[SweepRow]:
        """Of whole runs, of attacked rounds, of rounds of training, of elements of updates."""
        return [
            SweepRow({**keys, "seed": result.seed}, row)
            for keys, result in self.runs
            for row in getattr(result, "rows" if table == "runs" else table)
        ]

    def of_attack(self, table: Table, attack: str) -> list[SweepRow]:
        """The rows of one attack, and those that no attack has a part in."""
        wanted = (attack, NO_ATTACK, None)
        return [row for row in self.rows(table) if row.value("attack") in wanted]

    def results(self, where: Where) -> Iterator[TrialResult]:
        """The runs whose keys fit."""
        return (result for keys, result in self.runs if fits(keys.get, where))

    @property
    def attacks(self) -> tuple[str, ...]:
        """Those that were run, in their order."""
        names = dict.fromkeys(row.attack for _, result in self.runs for row in result.rows)
        return tuple(name for name in names if name != NO_ATTACK)

    @property
    def seconds(self) -> float:
        return sum(result.seconds for _, result in self.runs)

    @property
    def failed(self) -> list[tuple[Mapping[str, Any], str]]:
        """The runs without figures, and why."""
        return [(keys, result.failed) for keys, result in self.runs if result.failed is not None]

    @property
    def unread(self) -> dict[str, tuple[str, ...]]:
        """By configuration the attacks that cannot read its map, and were not run."""
        results = (result for _, result in self.runs)
        return {each.configuration: each.unread for each in results if each.unread}


def decisions(claims: Sequence[Claim], result: SpecResult) -> list[list[Decision]]:
    """For each claim what became of it under every attack; one, where none has a part."""
    return [_under_attacks(claim, result) for claim in claims]


def _under_attacks(claim: Claim, result: SpecResult) -> list[Decision]:
    attacks = result.attacks or (NO_ATTACK,)
    if claim.rule.figure in OF_DLG and DLG in attacks:
        attacks = (DLG,)
    # A rule of costs learns from an attack who is private enough.
    looked_at = {claim.rule.figure, getattr(claim.rule, "private", claim.rule.figure)}
    if looked_at <= OF_NO_ATTACK:
        return [decide(claim, result.of_attack(claim.table, attacks[0]), None)]
    return [decide(claim, result.of_attack(claim.table, attack), attack) for attack in attacks]
