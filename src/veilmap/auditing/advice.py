"""One configuration for the bounds that the reader gave, ready to run."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any

from veilmap.auditing.narrative import BETTER_MAP
from veilmap.auditing.needed_classes import as_comments, needed_classes
from veilmap.auditing.one_configuration import but, cost, hidden
from veilmap.auditing.ranking import Ranked, Ranking
from veilmap.auditing.settings import Question
from veilmap.metrics.figure_names import HOME_ERROR
from veilmap.metrics.verdict import Advice
from veilmap.settings import parse, plain, toml
from veilmap.shell import option_words
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.study.settings import RunSettings, SettingsFile
from veilmap.wording import counted


@dataclass(frozen=True)
class Choice:
    """What is recommended, and why; or what comes nearest, where the bounds are not met."""

    ranked: Ranked
    words: str
    is_met: bool


def choose(ranking: Ranking, question: Question) -> Choice | None:
    """The most accurate that is private enough, or the most private that is accurate enough.

    With both bounds, the most accurate that meets both; None without a bound. The home error must
    be large for every seed, attack and target: a single training run may be the worst of them.
    Targets to whom a guess that sees no message is nearer than the bound do not count: no
    configuration can meet it for them. A map that is no better than a constant is never
    recommended.
    """
    most_db, least_m = question.max_rmse_loss_db, question.min_home_error_m
    if most_db is None and least_m is None:
        return None
    cheap = _cheap(ranking, question)
    if not cheap:
        return None
    useful = [each for each in ranking.configurations if each.beats_constant]
    least = _or(least_m, 0.0)
    far = [each for each in useful if _judged(each, least) and _home_m(each, least) >= least]
    good = [each for each in cheap if each in far]
    bounds = _bounds(most_db, least_m)
    if not good:
        return _nearest(cheap, far, bounds, least)
    if least_m is None:
        best = _most_private(good, least)
    else:
        best = min(good, key=lambda each: each.rmse_db.median)
    words = f"To meet {bounds}, use {best.name}: {_about(best)}.{but(best)}"
    words += _not_judged(best, least)
    return Choice(best, words, is_met=True)


def why_none(ranking: Ranking, question: Question) -> Iterator[str]:
    """A sentence where bounds were given and no map is worth recommending."""
    most_db, least_m = question.max_rmse_loss_db, question.min_home_error_m
    if (most_db, least_m) != (None, None) and not _cheap(ranking, question):
        within = "" if most_db is None else f" that loses at most {most_db:g} dB"
        yield (
            f"No configuration is recommended: no map{within} is better than a constant; "
            f"{BETTER_MAP}."
        )


def _cheap(ranking: Ranking, question: Question) -> list[Ranked]:
    """Those with a map of some use that lose no more than allowed."""
    most_db = _or(question.max_rmse_loss_db, inf)
    return [
        each
        for each in ranking.configurations
        if each.beats_constant and each.rmse_loss_db <= most_db
    ]


def _nearest(cheap: Sequence[Ranked], far: Sequence[Ranked], bounds: str, least_m: float) -> Choice:
    """The cheapest that meets the distance bound, if any does, beside the most private one."""
    private = _most_private(cheap, least_m)
    short_m = least_m - _home_m(private, least_m)
    short = f"its smallest home error is {short_m:,.0f} m below the bound"
    words = f"No configuration meets {bounds}.{_not_judged(private, least_m)}"
    if not far:
        words += f" The nearest is {private.name}: {_about(private)}; {short}.{but(private)}"
        return Choice(private, words, is_met=False)
    best = min(far, key=lambda each: each.rmse_db.median)
    words += f" {best.name} meets the distance bound: {_about(best)}.{but(best)}"
    words += f" {private.name} meets the loss bound: {_about(private)}; {short}.{but(private)}"
    return Choice(best, words, is_met=False)


def advice(choice: Choice, run: RunSettings, read_with: Mapping[str, Any]) -> Advice:
    """With the command line and the settings file that train it, and what these need."""
    needed = needed_classes([run])
    return Advice(
        configuration=choice.ranked.name,
        words=" ".join([choice.words, *needed]),
        command=train_command(run, read_with),
        toml=as_comments(needed, train_toml(run, read_with)),
        is_met=choice.is_met,
    )


def train_command(run: RunSettings, read_with: Mapping[str, Any]) -> str:
    """``veilmap train …`` with every setting that is not the default."""
    words = ["veilmap", "train", str(read_with.get("path", "DATA"))]
    file, usual = _settings_file(run, read_with), SettingsFile()
    for table in fields(SettingsFile):
        words += option_words(getattr(file, table.name), getattr(usual, table.name))
    return shlex.join([*words, "--out", "RUN"])


def train_toml(run: RunSettings, read_with: Mapping[str, Any]) -> str:
    """The same as a settings file."""
    usual = plain(SettingsFile())
    tables = {
        name: {key: value for key, value in table.items() if value != usual[name].get(key)}
        for name, table in plain(_settings_file(run, read_with)).items()
    }
    return toml({name: table for name, table in tables.items() if table})


def _settings_file(run: RunSettings, read_with: Mapping[str, Any]) -> SettingsFile:
    columns = parse(Columns, read_with.get("columns", {}), "columns")
    reading = parse(Reading, read_with.get("reading", {}), "reading")
    return SettingsFile(**vars(run), columns=columns, reading=reading)


def _most_private(choices: Sequence[Ranked], least_m: float) -> Ranked:
    """Of equal ones the most accurate."""
    return max(choices, key=lambda each: (_home_m(each, least_m), -each.rmse_db.median))


def _home_m(ranked: Ranked, least_m: float) -> float:
    """At worst, of the targets that count, and at most what a guess leaves; of all if none does."""
    counted_m = _judged(ranked, least_m) or _credited_m(ranked)
    return min(counted_m.values(), default=inf)


def _judged(ranked: Ranked, least_m: float) -> dict[str, float]:
    """The targets that a guess is not nearer to than the bound, with their errors."""
    errors_m = _credited_m(ranked)
    if not errors_m:
        return {"": inf}  # neither an attack nor a guess ever names a home
    return {
        target: error_m
        for target, error_m in errors_m.items()
        if ranked.guess_homes_m.get(target, inf) >= least_m
    }


def _credited_m(ranked: Ranked) -> dict[str, float]:
    """By target, the least error of all attacks, seeds and guesses."""
    attacks_m, guesses_m = ranked.homes_at_worst_m, ranked.guess_homes_m
    return {
        target: min(attacks_m.get(target, inf), guesses_m.get(target, inf))
        for target in {**attacks_m, **guesses_m}
    }


def _not_judged(ranked: Ranked, least_m: float) -> str:
    """Who does not count; and that nothing can be done where nobody does."""
    nearer_m = [each for each in ranked.guess_homes_m.values() if each < least_m]
    if not nearer_m:
        return ""
    if not _judged(ranked, least_m):
        return (
            " None can: a guess that sees no message is "
            f"{max(nearer_m):,.0f} m from {ranked.place} already."
        )
    return (
        f" To {counted(len(nearer_m), 'user')} of {ranked.targets:,} a guess that sees no message "
        "is nearer than the bound; it is judged on the others."
    )


def _about(ranked: Ranked) -> str:
    return f"{hidden(ranked, HOME_ERROR)}, {cost(ranked)}"


def _bounds(most_db: float | None, least_m: float | None) -> str:
    """``the bound (loss of at most 0.3 dB)``, or both."""
    bounds = []
    if least_m is not None:
        bounds.append(f"home error of at least {least_m:,.0f} m in every run")
    if most_db is not None:
        bounds.append(f"loss of at most {most_db:g} dB")
    which = "the bound" if len(bounds) == 1 else "both bounds"
    return f"{which} ({', '.join(bounds)})"


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
