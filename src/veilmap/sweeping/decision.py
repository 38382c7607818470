"""Whether a claim holds, from the seeds of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from statistics import fmean

from veilmap.metrics.intervals import Interval, paired_interval
from veilmap.sweeping.claims import Claim
from veilmap.sweeping.selection import SweepRow, by_value

# Means of equal figures differ by their rounding, which is far below this.
_DECIMALS = 12


class ClaimOutcome(Enum):
    """What came of a claim, in words."""

    # The whole interval of its effect is above zero.
    HOLDS = "holds"
    # The whole interval of its effect is below zero, or there is no effect in any seed.
    FAILS = "does not hold"
    # The interval of its effect has zero in it, or there are too few seeds.
    UNDECIDED = "undecided"
    # No run has the figures that it needs.
    UNKNOWN = "not determined"

    @property
    def words(self) -> str:
        return self.value


@dataclass(frozen=True)
class Decision:
    """One claim under one attack.

    Attributes:
        claim: that was decided.
        attack: under which; None for figures that no attack has a part in.
        outcome: what came of it.
        effects: by seed; seeds without a decision are left out.
        interval: of their mean, with 95 % confidence; None for fewer than two.
        values: the numbers compared, from the rows of all seeds.
    """

    claim: Claim
    attack: str | None
    outcome: ClaimOutcome
    effects: tuple[float, ...]
    interval: Interval | None
    values: tuple[float | None, ...]


def decide(claim: Claim, rows: Sequence[SweepRow], attack: str | None = None) -> Decision:
    """From the rows of all seeds, of one attack."""
    by_seed = by_value(rows, "seed").values()
    found = (claim.rule.effect(each) for each in by_seed)
    effects = tuple(round(effect, _DECIMALS) for effect in found if effect is not None)
    interval = paired_interval(effects)
    values = _means([claim.rule.values(each) for each in by_seed or ([],)])
    outcome = _outcome(claim, effects, interval)
    return Decision(claim, attack, outcome, effects, interval, values)


def _means(by_seed: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    """Of the numbers in each place, over the seeds that have one there."""
    known = ([value for value in place if value is not None] for place in zip_longest(*by_seed))
    return tuple(fmean(place) if place else None for place in known)


def _outcome(claim: Claim, effects: Sequence[float], interval: Interval | None) -> ClaimOutcome:
    if not effects:
        return ClaimOutcome.UNKNOWN
    if claim.certain:
        return ClaimOutcome.HOLDS if min(effects) > 0 else ClaimOutcome.FAILS
    if interval is None:
        return ClaimOutcome.UNDECIDED
    if interval.low > 0:
        return ClaimOutcome.HOLDS
    # No effect at all, in every seed, is no support for a claim that there is one.
    return ClaimOutcome.FAILS if interval.high <= 0 else ClaimOutcome.UNDECIDED
