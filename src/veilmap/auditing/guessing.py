"""The guesses that see no message, over all runs of a configuration."""

from collections.abc import Mapping, Sequence
from math import isfinite

from veilmap.auditing.choosing import Worse, run_median
from veilmap.metrics.figure_names import HOME_ERROR
from veilmap.metrics.rows import TrialRow
from veilmap.metrics.spread import Spread, Strongest
from veilmap.sweeping.selection import by_value, numbers


def guesses_by_figure(
    guessed: Sequence[TrialRow], figures: Mapping[str, Worse]
) -> dict[str, tuple[Strongest, ...]]:
    """By figure, every guess that has it in most runs."""
    return {
        figure: tuple(
            Strongest(name, Spread(value, min(known), max(known)))
            for name, own in by_value(guessed, "attack").items()
            if isfinite(value := run_median(own, figure, worse)) and (known := numbers(own, figure))
        )
        for figure, worse in figures.items()
    }


def nearest_guesses(
    configurations: Sequence[Mapping[str, tuple[Strongest, ...]]], figures: Mapping[str, Worse]
) -> dict[str, tuple[Strongest, ...]]:
    """By figure and guess, what comes nearest under any configuration.

    A guess is about people and not about a configuration: one zero holds for all.
    """
    found: dict[str, tuple[Strongest, ...]] = {}
    for figure, worse in figures.items():
        every = [guess for own in configurations for guess in own.get(figure, ())]
        names = dict.fromkeys(guess.attack for guess in every)
        worst = {
            name: worse([g.figure.median for g in every if g.attack == name]) for name in names
        }
        found[figure] = tuple(
            next(g for g in every if (g.attack, g.figure.median) == pair) for pair in worst.items()
        )
    return found


def least_homes_m(rows: Sequence[TrialRow]) -> dict[str, float]:
    """By target, the least home error in any run."""
    errors_m = {
        str(target): numbers(own, HOME_ERROR) for target, own in by_value(rows, "target").items()
    }
    return {target: min(known) for target, known in errors_m.items() if known}
