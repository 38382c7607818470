"""Which attack is the strongest, chosen on other runs than those that it is scored on.

An attacker chooses a method, and cannot know which one will be lucky. The least of several noisy
errors is too small: the choice itself has seen the noise. So for every seed the attack is chosen on
the other seeds; with a single seed, for every target on the other targets.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import median, median_high, median_low
from typing import Literal

from veilmap.metrics.rows import TrialRow
from veilmap.metrics.spread import Spread, Strongest
from veilmap.sweeping.selection import by_value, numbers

ChosenOn = Literal["other seeds", "other users", "the same run"]
# Which of two values is worse for the user.
Worse = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Scored:
    """One run of one target: its figure under the attack chosen elsewhere.

    Attributes:
        target: the user.
        attack: that does best elsewhere.
        value: infinite where it has found nothing, and for a recall the negative of that.
    """

    target: str | None
    attack: str
    value: float


@dataclass(frozen=True)
class Chosen:
    """The strongest attack by one figure, and every run under it."""

    strongest: Strongest
    scored: tuple[Scored, ...]
    worse: Worse

    @property
    def over_targets(self) -> tuple[float, ...]:
        """The targets' medians."""
        targets: dict[str | None, list[float]] = {}
        for each in self.scored:
            targets.setdefault(each.target, []).append(each.value)
        return tuple(middle(values, self.worse) for values in targets.values())


def chosen_on(rows: Sequence[TrialRow]) -> ChosenOn:
    """Where the strongest attack is chosen."""
    if len(by_value(rows, "seed")) > 1:
        return "other seeds"
    return "other users" if len(by_value(rows, "target")) > 1 else "the same run"


def choose_strongest(rows: Sequence[TrialRow], figure: str, worse: Worse) -> Chosen | None:
    """By one figure; None if no attack has it in most runs."""
    scored = [each for fold in _folds(rows) for each in _scored(*fold, figure, worse)]
    value = middle([each.value for each in scored], worse)
    if not isfinite(value):
        return None
    known = [each.value for each in scored if isfinite(each.value)]
    names = Counter(each.attack for each in scored)
    is_alone = chosen_on(rows) == "the same run"
    strongest = Strongest(
        attack=names.most_common(1)[0][0],
        figure=Spread(value, min(known), max(known)),
        hindsight=None if is_alone else in_hindsight(rows, figure, worse),
    )
    return Chosen(strongest, tuple(scored), worse)


def in_hindsight(rows: Sequence[TrialRow], figure: str, worse: Worse) -> Strongest | None:
    """The attack with the worst median over the same runs that it is scored on."""
    found = {name: run_median(own, figure, worse) for name, own in by_value(rows, "attack").items()}
    medians = {name: value for name, value in found.items() if isfinite(value)}
    if not medians:
        return None
    worst = worse(list(medians.values()))
    attack = next(name for name, value in medians.items() if value == worst)
    known = numbers([row for row in rows if row.attack == attack], figure)
    return Strongest(attack, Spread(worst, min(known), max(known)))


def run_median(rows: Sequence[TrialRow], figure: str, worse: Worse) -> float:
    """Over the runs of one attack; infinite where most of them do not have the figure."""
    return middle(_values(rows, figure, worse), worse)


def middle(values: Sequence[float], worse: Worse) -> float:
    """Of the two middle values the one that is worse for the user.

    A mean of 10 m and 2,280 m would describe neither.
    """
    return median_low(values) if worse is min else median_high(values)


def _folds(rows: Sequence[TrialRow]) -> Iterator[tuple[Sequence[TrialRow], Sequence[TrialRow]]]:
    """The rows to choose on, and those to score."""
    key = {"other seeds": "seed", "other users": "target"}.get(chosen_on(rows))
    if key is None:
        yield rows, rows
        return
    for value, own in by_value(rows, key).items():
        yield [row for row in rows if row.value(key) != value], own


def _scored(
    others: Sequence[TrialRow], own: Sequence[TrialRow], figure: str, worse: Worse
) -> Iterator[Scored]:
    attack = _best(others, figure, worse)
    under = {(row.seed, row.target): row for row in own if row.attack == attack}
    for seed, target in dict.fromkeys((row.seed, row.target) for row in own):
        run = under.get((seed, target))
        value = None if run is None else run.figure(figure)
        yield Scored(target, attack, _nothing(worse) if value is None else value)


def _best(rows: Sequence[TrialRow], figure: str, worse: Worse) -> str:
    """By the mean of the two middle values: of two runs the luckier one must not decide.

    Where most runs of every attack have found nothing, the one that finds something most often.
    """
    values = {name: _values(own, figure, worse) for name, own in by_value(rows, "attack").items()}
    sign, nothing = 1 if worse is min else -1, _nothing(worse)
    return str(min(values, key=lambda n: (sign * median(values[n]), values[n].count(nothing))))


def _values(rows: Sequence[TrialRow], figure: str, worse: Worse) -> list[float]:
    """Of every row."""
    values = (row.figure(figure) for row in rows)
    return [_nothing(worse) if value is None else value for value in values]


def _nothing(worse: Worse) -> float:
    """What counts where an attack does not have the figure: it has found nothing."""
    return inf if worse is min else -inf
