"""The board: what the paper says, what came out here, claim by claim."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veilmap.metrics.figure_names import figure_name
from veilmap.sweeping.claims import Claim
from veilmap.sweeping.decision import ClaimOutcome, Decision
from veilmap.sweeping.selection import SweepRow
from veilmap.sweeping.spec import Spec
from veilmap.sweeping.spec_result import DLG, SpecResult, decisions
from veilmap.wording import counted

# The paper's own attacker decides; the others stand beside it.
THE_PAPERS = DLG
MARKS = {
    ClaimOutcome.HOLDS: "✓",
    ClaimOutcome.FAILS: "✗",
    ClaimOutcome.UNDECIDED: "?",
    ClaimOutcome.UNKNOWN: "–",
}
_VERBS = {
    ClaimOutcome.HOLDS: ("holds", "hold"),
    ClaimOutcome.FAILS: ("does not hold", "do not hold"),
    ClaimOutcome.UNDECIDED: ("is undecided", "are undecided"),
    ClaimOutcome.UNKNOWN: ("is not determined", "are not determined"),
}
EXPLAINED = (
    "Effect is above zero where a claim is true: a difference, a slope per step, or the distance "
    "from a bound, paired over the seeds, with its 95 % interval. A claim holds where the whole "
    "interval is above zero, and does not hold where it is below. It is undecided where zero is "
    "inside or one seed has no interval, and not determined where no run has the figure. Counts "
    "have no interval: they decide as they are. The verdict is under the paper's own attacker "
    "(DLG, start (ii), m = 400,000); the verdicts under the others stand next to it."
)


@dataclass(frozen=True)
class Finding:
    """One claim on one set of measurements.

    Attributes:
        outcome: under the paper's own attack.
        values: the numbers that the claim compares, in words.
        effect: above zero where the claim is true, with its interval, in words.
        under: the outcomes under the other attacks; empty where no attack has a part.
    """

    outcome: ClaimOutcome
    values: str
    effect: str
    under: Mapping[str, ClaimOutcome]

    def as_dict(self) -> dict[str, Any]:
        under = {attack: outcome.name for attack, outcome in self.under.items()}
        return {**vars(self), "outcome": self.outcome.name, "under": under}

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> "Finding":
        """From what ``as_dict`` gave."""
        under = {attack: ClaimOutcome[name] for attack, name in content["under"].items()}
        values, effect = str(content["values"]), str(content["effect"])
        return cls(ClaimOutcome[content["outcome"]], values, effect, under)


@dataclass(frozen=True)
class BoardLine:
    """A claim with what came of it here, and beside that on other measurements."""

    says: str
    paper: str
    note: str
    here: Finding
    beside: Finding | None = None


@dataclass(frozen=True)
class BoardEntry:
    """One table or figure."""

    label: str
    title: str
    about: str
    lines: tuple[BoardLine, ...]
    pictures: tuple[str, ...]
    command: str
    runs: int
    seconds: float
    failed: tuple[str, ...]


@dataclass(frozen=True)
class Board:
    """All of them.

    Attributes:
        entries: in the order of the paper.
        data: what the claims were decided on.
        beside: what else, or None.
        seeds: how many runs of everything.
        machine: where it was run.
        seconds: of computing, each run counted once.
    """

    entries: tuple[BoardEntry, ...]
    data: str
    beside: str | None
    seeds: int
    machine: str
    seconds: float

    @property
    def counts(self) -> Counter[ClaimOutcome]:
        """How many claims came out how."""
        return Counter(line.here.outcome for entry in self.entries for line in entry.lines)

    @property
    def counts_beside(self) -> Counter[ClaimOutcome]:
        lines = (line for entry in self.entries for line in entry.lines)
        return Counter(line.beside.outcome for line in lines if line.beside is not None)


def counted_claims(counts: Counter[ClaimOutcome]) -> str:
    """``of 13 claims: 2 hold, 11 are undecided``."""
    parts = [claims_that(outcome, counts[outcome]) for outcome in ClaimOutcome if counts[outcome]]
    return f"of {counted(counts.total(), 'claim')}: {', '.join(parts) or 'none'}"


def claims_that(outcome: ClaimOutcome, count: int) -> str:
    """``1 holds`` or ``2 hold``."""
    one, several = _VERBS[outcome]
    return f"{count} {one if count == 1 else several}"


def duration(seconds: float) -> str:
    """``48 s`` or ``12 min``."""
    return f"{seconds:,.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def board_entry(
    spec: Spec,
    result: SpecResult,
    beside: Mapping[tuple[str, str], Finding],
    pictures: tuple[str, ...],
    options: str,
) -> BoardEntry:
    """A table or figure with its claims; ``beside`` are findings by label and claim."""
    lines = []
    for claim, here in zip(spec.claims, findings(spec, result), strict=True):
        there = beside.get((spec.label, claim.says))
        lines.append(BoardLine(claim.says, paper_text(claim, spec), claim.note, here, there))
    return BoardEntry(
        spec.label,
        spec.title,
        spec.about,
        tuple(lines),
        pictures,
        f"veilmap reproduce {spec.label}{options}",
        len(result.runs),
        result.seconds,
        tuple(dict.fromkeys(why for _, why in result.failed)),
    )


def findings(spec: Spec, result: SpecResult) -> list[Finding]:
    """What came of each claim of a spec."""
    return [_finding(under) for under in decisions(spec.claims, result)]


def paper_text(claim: Claim, spec: Spec) -> str:
    """The published numbers that the claim compares, or its result in words."""
    values = claim.rule.values([SweepRow(published) for published in spec.numbers])
    if all(value is None for value in values):
        return claim.paper or "-"
    text = _joined(claim, values)
    return f"{text}; {claim.paper}" if claim.paper else text


def _finding(under: Sequence[Decision]) -> Finding:
    mine = next((each for each in under if each.attack == THE_PAPERS), under[0])
    others = {each.attack: each.outcome for each in under if each.attack not in (None, mine.attack)}
    return Finding(mine.outcome, _joined(mine.claim, mine.values), _effect(mine), others)


def _joined(claim: Claim, values: Sequence[float | None]) -> str:
    name = figure_name(claim.rule.figure)
    text = claim.rule.joint.join(name.text(value) for value in values) or "-"
    along = getattr(claim.rule, "along", None)
    by = f"by {figure_name(along).words}: " if along and len(values) > 1 else ""
    return f"{by}{text} {name.unit}".strip()


def _effect(decision: Decision) -> str:
    if not decision.effects:
        return "-"
    name = figure_name(decision.claim.rule.figure)
    interval = decision.interval
    if interval is None:
        return f"{_signed(name.factor * decision.effects[0])}, one seed"
    mean = _signed(name.factor * interval.mean)
    low, high = (_signed(name.factor * each) for each in (interval.low, interval.high))
    return f"{mean} ({low} to {high}), {counted(interval.count, 'seed')}"


def _signed(value: float) -> str:
    return "0" if value == 0 else f"{value:+.3g}".replace("-", "−")
