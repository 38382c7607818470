"""The first sentence of an audit."""

from collections.abc import Sequence
from math import isfinite

from veilmap.auditing.one_configuration import hidden, metres
from veilmap.auditing.ranking import Ranked, Ranking
from veilmap.metrics.baselines import GUESS_NAMES
from veilmap.metrics.figure_names import EMD, HOME_ERROR
from veilmap.metrics.spread import Strongest
from veilmap.wording import counted


def headline(ranking: Ranking, targets: Sequence[str]) -> str:
    """How near the strongest attacker comes under the baseline configuration."""
    own = ranking.baseline
    begin = f"Baseline ({own.name}): "
    if own.is_blind:
        over = [f"as the median of {len(targets)} users"] if len(targets) > 1 else []
        nothing = "no attack does better than a guess that sees no message"
        return f"{begin}{', '.join([nothing, *over, *_guesses(own)])}."
    home, places = own.strongest.get(HOME_ERROR), own.strongest.get("recall_50m")
    if home is None:
        return f"{begin}no attack names a {own.place} in most runs: {hidden(own, EMD)}."
    who = f"the {own.place} of user {targets[0]}" if len(targets) == 1 else f"a user's {own.place}"
    found = f"the strongest attack ({home.attack}) locates {who} within {metres(home.figure)}"
    asides = [f"as the median of {len(targets)} users{_apart(own)}"] if len(targets) > 1 else []
    asides += _guesses(own)
    found = ", ".join([found, *asides])
    if places is None:
        return f"{begin}{found}."
    by = "" if places.attack == home.attack else f" ({places.attack})"
    comma = "," if asides else ""
    named = _places(own, places, len(targets))
    return f"{begin}{found}{comma} and finds {named} to within 50 m{by}."


def _guesses(own: Ranked) -> list[str]:
    """``where a blind guess has 566 m and a guess from others' places has 74 m``, if known."""
    guesses = own.guesses.get(HOME_ERROR, ())
    known = [f"a {GUESS_NAMES[each.attack]} has {metres(each.figure)}" for each in guesses]
    return [f"where {' and '.join(known)}"] if guesses else []


def _places(own: Ranked, found: Strongest, targets: int) -> str:
    """``3 of the user's 5 main places``."""
    if targets > 1:
        return f"{found.figure.median:.0%} of their main places"
    of = own.top_places
    return f"{_count(found.figure.median * of)} of the user's {_count(of)} main places"


def _apart(own: Ranked) -> str:
    """How the targets differ; users who are not found are counted."""
    homes_m = own.over_targets[HOME_ERROR]
    found_m = [each for each in homes_m if isfinite(each)]
    if not found_m:
        return ""
    lost = len(homes_m) - len(found_m)
    unlocated = (
        f"; for {counted(lost, 'user')} no attack names a {own.place} in most runs" if lost else ""
    )
    return f" (best located {min(found_m):,.0f} m, worst located {max(found_m):,.0f} m{unlocated})"


def _count(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
