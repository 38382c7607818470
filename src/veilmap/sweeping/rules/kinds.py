"""The kinds of claims by the names that specs give them."""

from veilmap.sweeping.rules.bounds import AtLeast, AtMost, SameAs
from veilmap.sweeping.rules.comparisons import Above, Cheapest, Order, Ratio, Undominated
from veilmap.sweeping.rules.rule import Rule
from veilmap.sweeping.rules.trends import Falls, Least, Rises, Same

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
