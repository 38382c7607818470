"""The figures of a sweep as rows with the keys of their runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veilmap.study.results import NO_ATTACK
from veilmap.sweeping.claims import Claim, Table
from veilmap.sweeping.record import Record, Row
from veilmap.sweeping.selection import Where, chosen
from veilmap.sweeping.verdict import Verdict, decide

DLG = "dlg"
# An iterative attack's alone, or told by each attack in its own terms.
_OF_DLG = {"iterations", "cosine", "cosine_least"}
# The same under every attack.
_OF_NO_ATTACK = {
    "rmse_db",
    "rmse_past_db",
    "rmse_past_gap_db",
    "points",
    "points_share",
    "points_std_m",
    "norm",
    "small_share",
    "measurements",
    "rounds",
    "user_emd",
}


@dataclass(frozen=True)
class Figures:
    """Every run of a spec with its keys."""

    runs: tuple[tuple[Mapping[str, Any], Record], ...]

    def rows(self, table: Table = "runs") -> list[Row]:
        """Of whole runs, of attacked rounds, or of rounds of training."""
        return [
            {**row, **keys, "seed": record.seed}
            for keys, record in self.runs
            for row in getattr(record, "rows" if table == "runs" else table)
        ]

    def of_attack(self, table: Table, attack: str) -> list[Row]:
        """The rows of one attack, and those that no attack has a part in."""
        return [
            row for row in self.rows(table) if row.get("attack", NO_ATTACK) in (attack, NO_ATTACK)
        ]

    def records(self, where: Where) -> Iterator[Record]:
        """The runs whose keys fit."""
        for keys, record in self.runs:
            if chosen([keys], where):
                yield record

    @property
    def attacks(self) -> tuple[str, ...]:
        """Those that were run, in their order."""
        names = dict.fromkeys(str(row["attack"]) for row in self.rows())
        return tuple(name for name in names if name != NO_ATTACK)

    @property
    def seconds(self) -> float:
        return sum(record.seconds for _, record in self.runs)

    @property
    def failed(self) -> list[tuple[Mapping[str, Any], str]]:
        """The runs without figures, and why."""
        return [(keys, record.failed) for keys, record in self.runs if record.failed is not None]


def verdicts(claims: Sequence[Claim], figures: Figures) -> list[list[Verdict]]:
    """For each claim its verdict under every attack that was run; one, where none has a part."""
    return [_under_attacks(claim, figures) for claim in claims]


def _under_attacks(claim: Claim, figures: Figures) -> list[Verdict]:
    attacks = figures.attacks or (NO_ATTACK,)
    if claim.rule.figure in _OF_DLG and DLG in attacks:
        attacks = (DLG,)
    if claim.rule.figure in _OF_NO_ATTACK:
        return [decide(claim, figures.of_attack(claim.table, attacks[0]), None)]
    return [decide(claim, figures.of_attack(claim.table, attack), attack) for attack in attacks]
