"""Statements that figures decide, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from veilmap.errors import UserError, shown, unknown_choice
from veilmap.settings import parse
from veilmap.sweeping.rules.bounds import AtLeast, AtMost, SameAs
from veilmap.sweeping.rules.comparisons import Above, Cheapest, Order, Ratio, Undominated
from veilmap.sweeping.rules.rule import Rule
from veilmap.sweeping.rules.trends import Falls, Least, Rises, Same

Table = Literal["runs", "rounds", "training", "gradient"]


@dataclass(frozen=True)
class ClaimWords:
    """What the table of a claim has besides its kind and what that kind needs.

    Attributes:
        says: the statement in words.
        table: whose figures: of whole ``runs``, of attacked ``rounds``, of rounds of ``training``,
            of the elements of the ``gradient``.
        paper: the published result in words, where it is no number of ours.
        note: what explains the outcome.
        certain: the figures are counted, not sampled, so that one seed decides.
    """

    says: str
    table: Table = "runs"
    paper: str = ""
    note: str = ""
    certain: bool = False


@dataclass(frozen=True, kw_only=True)
class Claim(ClaimWords):
    """One statement, and how it is decided; ``rule`` is what its figures must be like."""

    rule: Rule


# By the names that specs give them.
RULES: dict[str, type[Rule]] = {
    "above": Above,
    "order": Order,
    "rises": Rises,
    "falls": Falls,
    "same": Same,
    "same_as": SameAs,
    "at_least": AtLeast,
    "at_most": AtMost,
    "ratio": Ratio,
    "fraction": Ratio,
    "least": Least,
    "cheapest": Cheapest,
    "undominated": Undominated,
}


def claim_of(table: Mapping[str, Any]) -> Claim:
    """From a table of a spec: ``kind`` chooses the rule, whose settings stand beside the words."""
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in RULES:
        raise unknown_choice("kind of claim", kind, RULES)
    own = {field.name for field in fields(ClaimWords)}
    where = f"claim {shown(table.get('says', ''))}"
    words = parse(ClaimWords, {name: value for name, value in table.items() if name in own}, where)
    rest = {name: value for name, value in table.items() if name not in own | {"kind"}}
    if not words.says:
        raise UserError("a claim says nothing; give it a sentence with says")
    return Claim(**vars(words), rule=parse(RULES[kind], rest, where))
