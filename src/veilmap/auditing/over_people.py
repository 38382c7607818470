"""What an audit says of people, and not of one person: how home errors are spread over them."""

from collections.abc import Iterator, Sequence
from math import inf

from veilmap.attacks.methods import GUESSES
from veilmap.auditing.ranking import Ranked, Ranking
from veilmap.experiments.result import TrialResult
from veilmap.metrics.figure_names import HOME_ERROR
from veilmap.metrics.people import QUANTILES, HomeErrors
from veilmap.metrics.people_found import RADII_M


def over_people(ranking: Ranking, results: Sequence[TrialResult]) -> tuple[HomeErrors, ...]:
    """By configuration under the strongest attack on home, then under each guess."""
    return tuple(
        errors
        for ranked in ranking.configurations
        for errors in _of(ranked, [each for each in results if each.configuration == ranked.name])
    )


def _of(ranked: Ranked, own: Sequence[TrialResult]) -> Iterator[HomeErrors]:
    strongest = ranked.strongest.get(HOME_ERROR)
    attack = None if strongest is None else strongest.attack
    errors_m = ranked.over_targets.get(HOME_ERROR, (inf,) * ranked.targets)
    yield HomeErrors(ranked.name, attack, errors_m, len(ranked.no_home))
    for guess in GUESSES:
        guesses = [row for each in own for row in each.guesses if row.attack == guess]
        if guesses:
            yield HomeErrors.of(guesses, is_guess=True)


def shown_people(people: Sequence[HomeErrors]) -> list[HomeErrors]:
    """The configurations, then the guesses beside the baseline: they hardly differ elsewhere."""
    own = people[0].configuration
    guesses = [each for each in people if each.is_guess and each.configuration == own]
    return [*(each for each in people if not each.is_guess), *guesses]


def people_lines(people: Sequence[HomeErrors], place: str = "home") -> Iterator[tuple[str, ...]]:
    """As a table with its heads, distances in metres; a dash where nobody is located."""
    shares = [f"{share:.0%}" for share in QUANTILES.values()]
    yield f"m from {place}, best located", *shares, *(f"≤ {r:.0f} m" for r in RADII_M)
    for each in shown_people(people):
        name = f"({each.called})" if each.is_guess else each.configuration
        distances_m = map(each.quantile_m, QUANTILES.values())
        texts = ("-" if value is None else f"{value:,.0f}" for value in distances_m)
        yield name, *texts, *(_share(each, radius_m) for radius_m in RADII_M)


def about_people(people: Sequence[HomeErrors], place: str = "home") -> Iterator[str]:
    """A sentence on the baseline and its blind guess, where there is more than one person."""
    first = people[0]
    if first.people == 1:
        return
    found = ", ".join(f"{_share(first, r)} within {r:.0f} m" for r in RADII_M)
    blind = next((each for each in people if each.is_guess), None)
    shares = "" if blind is None else ", ".join(_share(blind, r) for r in RADII_M)
    beside = "" if blind is None else f"; a {blind.called} {shares}"
    yield (
        f"Over {first.people:,} people, {first.attack or 'no attack'} under {first.configuration} "
        f"finds the {place} of {found}{beside}."
    )


def _share(each: HomeErrors, radius_m: float) -> str:
    return f"{each.within(radius_m):.0%}"
