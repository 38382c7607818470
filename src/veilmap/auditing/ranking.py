"""From the figures of all runs to one line per configuration, and who beats whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from statistics import fmean, median
from typing import Literal

from veilmap.auditing.choosing import Chosen, ChosenOn, Worse, choose_strongest, chosen_on
from veilmap.auditing.guessing import guesses_by_figure, least_homes_m, nearest_guesses
from veilmap.experiments.result import TrialResult
from veilmap.metrics.baselines import Reach, has_skill
from veilmap.metrics.figure_names import EMD, HOME_ERROR
from veilmap.metrics.panel_row import PanelRow
from veilmap.metrics.rows import TrialRow
from veilmap.metrics.spread import Spread, Strongest
from veilmap.sweeping.selection import by_value, numbers

# A figure, and which of two is worse for the user.
FIGURES: dict[str, Worse] = {
    HOME_ERROR: min,
    "nearest_m": min,
    EMD: min,
    "distance_m": min,
    "recall_50m": max,
}
# By what configurations are compared, the first that all of them have.
_PRIVACY = (HOME_ERROR, EMD)


@dataclass(frozen=True, kw_only=True)
class Ranked(PanelRow):
    """A row of the panel, over all seeds and targets, with what else decides between them.

    Attributes:
        rmse_constant_db: of the constant (mean) baseline.
        over_targets: by figure, under the strongest attack, the targets' medians; infinite for
            one that is not found.
        homes_at_worst_m: by target, the least home error of all attacks and seeds, if any has it.
        guess_homes_m: by target, the least home error of the guesses that see no message.
        seeds: how many.
        chosen_on: where the strongest attack is chosen.
        is_blind: no attack does better than the guesses, by home, by the EMD of locations or
            clouds, or by a place where the user was.
        top_places: how many places recall_50m is a share of.
        no_home: by target without a home, why the data name none.
        targets: how many users were attacked.
    """

    rmse_constant_db: float
    over_targets: Mapping[str, tuple[float, ...]]
    homes_at_worst_m: Mapping[str, float]
    guess_homes_m: Mapping[str, float]
    seeds: int
    chosen_on: ChosenOn
    is_blind: bool
    top_places: float
    no_home: Mapping[str, str] = field(default_factory=dict)
    targets: int = 1

    @property
    def place(self) -> Literal["home", "heaviest place"]:
        """What the home error is an error of: where no target has a home, of the heaviest place."""
        return "heaviest place" if len(self.no_home) == self.targets else "home"

    @property
    def home_at_worst_m(self) -> float | None:
        """The least home error of all attacks, seeds and targets, if any has it."""
        return min(self.homes_at_worst_m.values(), default=None)

    def guess(self, figure: str) -> Strongest | None:
        """The guess that comes nearest by a figure."""
        guesses = self.guesses.get(figure, ())
        worst = FIGURES[figure]([each.figure.median for each in guesses]) if guesses else None
        return next((each for each in guesses if each.figure.median == worst), None)

    def hidden(self, figure: str) -> float:
        """The error that a server is left with: that of an attack, and at most that of a guess.

        An attack that finds nothing leaves infinity. No message is needed for the guess, so no
        configuration hides more than it leaves.
        """
        known = (self.strongest.get(figure), self.guess(figure))
        return min((each.figure.median for each in known if each), default=inf)

    @property
    def beats_constant(self) -> bool:
        """By place: per row, the places where phones rest would decide."""
        return has_skill(self.skill_by_place)


@dataclass(frozen=True)
class Ranking:
    """All configurations, the baseline first.

    ``privacy`` is the figure that they are compared by; ``failed`` says of those without figures
    why they have none.
    """

    configurations: tuple[Ranked, ...]
    privacy: str
    failed: Mapping[str, str]

    @property
    def baseline(self) -> Ranked:
        return self.configurations[0]

    @property
    def frontier(self) -> tuple[Ranked, ...]:
        """Those that no other beats in both, the most accurate first."""
        free = (each for each in self.configurations if each.is_on_frontier)
        return tuple(sorted(free, key=lambda each: each.rmse_db.median))


def rank(results: Sequence[TrialResult]) -> Ranking:
    """Compare configurations by RMSE and by what a server is left with.

    That is the error of the strongest attack, and at most that of a guess that sees no message;
    the nearest guess of all configurations counts for each.
    """
    failed = {each.configuration: each.failed for each in results if each.failed is not None}
    own_results: dict[str, list[TrialResult]] = {}
    for each in results:
        if each.configuration not in failed and each.rows:
            own_results.setdefault(each.configuration, []).append(each)
    found: list[Ranked] = []
    for own in own_results.values():
        found.append(rank_one(own, found[0].rmse_db.median if found else None))
    found = _with_one_zero(found)
    complete = [f for f in _PRIVACY if all(isfinite(each.hidden(f)) for each in found)]
    privacy = complete[0] if complete else _PRIVACY[0]
    return Ranking(tuple(_placed(each, found, privacy) for each in found), privacy, failed)


def rank_one(results: Sequence[TrialResult], usual_db: float | None = None) -> Ranked:
    """One configuration alone; ``usual_db`` is the RMSE of the baseline."""
    rows = [row for each in results for row in each.rows]
    guessed = [row for each in results for row in each.guesses]
    every = {figure: choose_strongest(rows, figure, worse) for figure, worse in FIGURES.items()}
    chosen = {figure: each for figure, each in every.items() if each is not None}
    rmse_db = Spread.of([*{row.seed: numbers([row], "rmse_db")[0] for row in rows}.values()])
    return Ranked(
        name=rows[0].configuration,
        rmse_db=rmse_db,
        rmse_constant_db=fmean(numbers(rows, "rmse_constant_db")),
        rmse_loss_db=0.0 if usual_db is None else rmse_db.median - usual_db,
        skill_by_place=_middle(numbers(rows, "skill_by_place")),
        share_of_central=_middle(numbers(rows, "share_of_central")),
        points_share=fmean(numbers(rows, "points_share")),
        strongest={figure: each.strongest for figure, each in chosen.items()},
        guesses=guesses_by_figure(guessed, FIGURES),
        is_baseline=usual_db is None,
        is_on_frontier=True,
        dominated_by=None,
        is_recommended=False,
        unread=results[-1].unread,
        over_targets={figure: each.over_targets for figure, each in chosen.items()},
        homes_at_worst_m=least_homes_m(rows),
        guess_homes_m=least_homes_m(guessed),
        seeds=len({row.seed for row in rows}),
        chosen_on=chosen_on(rows),
        is_blind=_is_blind(rows, guessed, chosen.get(HOME_ERROR)),
        top_places=fmean(numbers(rows, "true_places")),
        no_home={str(row.target): str(why) for row in rows if (why := row.value("no_home"))},
        targets=len({row.target for row in rows}),
    )


def _with_one_zero(found: Sequence[Ranked]) -> list[Ranked]:
    guesses = nearest_guesses([each.guesses for each in found], FIGURES)
    homes_m: dict[str, float] = {}
    for each in found:
        for target, error_m in each.guess_homes_m.items():
            homes_m[target] = min(error_m, homes_m.get(target, inf))
    return [replace(each, guesses=guesses, guess_homes_m=homes_m) for each in found]


def _is_blind(rows: Sequence[TrialRow], guessed: Sequence[TrialRow], chosen: Chosen | None) -> bool:
    attacks, guesses = (
        [Reach.of([row.as_dict() for row in own]) for own in by_value(each, "attack").values()]
        for each in (rows, guessed)
    )
    guess = Reach.best(guesses)
    home_m = None if chosen is None else chosen.strongest.figure.median
    strongest = Reach(home_m, None, None)
    return all(each.finds_nothing(guess) for each in (*attacks, strongest))


def _middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _placed(own: Ranked, everyone: Sequence[Ranked], privacy: str) -> Ranked:
    """With the most accurate of those that beat it."""
    better = [each for each in everyone if _dominates(each, own, privacy)]
    if not better:
        return own
    best = min(better, key=lambda each: each.rmse_db.median)
    return replace(own, is_on_frontier=False, dominated_by=best.name)


def _dominates(one: Ranked, other: Ranked, privacy: str) -> bool:
    """At least as good in both, and better in one."""
    mine = (-one.rmse_db.median, one.hidden(privacy))
    yours = (-other.rmse_db.median, other.hidden(privacy))
    return mine != yours and all(a >= b for a, b in zip(mine, yours, strict=True))
