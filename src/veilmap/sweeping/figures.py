"""The figures of a sweep as rows with the keys of their runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from veilmap.study.results import NO_ATTACK
from veilmap.sweeping.claims import Claim, Table
from veilmap.sweeping.record import Record, Row
from veilmap.sweeping.selection import Where, chosen
from veilmap.sweeping.verdict import Verdict, decide


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
    return [_under_each(claim, figures) for claim in claims]


def _under_each(claim: Claim, figures: Figures) -> list[Verdict]:
    names = figures.attacks
    if not names:
        return [decide(claim, figures.rows(claim.table))]
    under = [decide(claim, figures.of_attack(claim.table, name), name) for name in names]
    # A figure that is the same under all attacks, such as the RMSE, belongs to none.
    belongs = len(under) == 1 or len({each.effects for each in under}) > 1
    return under if belongs else [replace(under[0], attack=None)]
