"""From the figures of all runs to one line per configuration, and who beats whom."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from statistics import fmean, median, median_high, median_low
from typing import Literal

from veilmap.experiments.result import TrialResult
from veilmap.metrics.baselines import has_skill, is_near, is_no_better
from veilmap.metrics.figure_names import EMD, HOME_ERROR
from veilmap.metrics.panel_row import PanelRow
from veilmap.metrics.rows import TrialRow
from veilmap.metrics.spread import Spread, Strongest
from veilmap.sweeping.selection import by_value, numbers

# A figure, and which of two is worse for the user.
FIGURES: dict[str, Callable[[Sequence[float]], float]] = {
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
        over_targets: by figure, under that attack, the targets' medians; infinite for one that is
            not found.
        home_at_worst_m: the least home error of all attacks, seeds and targets, if any has it.
        nearest_random_m: what random points have in place of nearest_m.
        seeds: how many.
        is_blind: no attack does better than random points, by the EMD of locations or clouds, and
            none is near a place where the user was.
        top_places: how many places recall_50m is a share of.
        no_home: by target without a home, why the data name none.
        targets: how many users were attacked.
    """

    rmse_constant_db: float
    over_targets: Mapping[str, tuple[float, ...]]
    home_at_worst_m: float | None
    nearest_random_m: float | None
    seeds: int
    is_blind: bool
    top_places: float
    no_home: Mapping[str, str] = field(default_factory=dict)
    targets: int = 1

    @property
    def place(self) -> Literal["home", "heaviest place"]:
        """What the home error is an error of: where no target has a home, of the heaviest place."""
        return "heaviest place" if len(self.no_home) == self.targets else "home"

    def hidden(self, figure: str) -> float:
        """What the strongest attack is left with; an attack that finds nothing, with infinity."""
        return self.strongest[figure].figure.median if figure in self.strongest else inf

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
    """Compare configurations by RMSE and by what the strongest attack is left with.

    An attacker chooses a method, not a lucky seed: the strongest attack for a figure is the one
    with the worst median over all seeds and targets. Where it names no place, it is left with
    nothing.
    """
    failed = {each.configuration: each.failed for each in results if each.failed is not None}
    ranked = [row for each in results if each.configuration not in failed for row in each.rows]
    unread = {each.configuration: each.unread for each in results}
    found: list[Ranked] = []
    for name, own in by_value(ranked, "configuration").items():
        row = rank_one(own, found[0].rmse_db.median if found else None)
        found.append(replace(row, unread=unread[name]))
    complete = [f for f in _PRIVACY if all(f in each.strongest for each in found)]
    privacy = complete[0] if complete else _PRIVACY[0]
    return Ranking(tuple(_placed(each, found, privacy) for each in found), privacy, failed)


def rank_one(rows: Sequence[TrialRow], usual_db: float | None = None) -> Ranked:
    """One configuration alone; ``usual_db`` is the RMSE of the baseline."""
    best = {figure: _strongest(rows, figure) for figure in FIGURES}
    strongest = {figure: each for figure, each in best.items() if each is not None}
    rmse_db = Spread.of([*{row.seed: numbers([row], "rmse_db")[0] for row in rows}.values()])
    random_m, homes_m = (numbers(rows, name) for name in ("nearest_random_m", HOME_ERROR))
    return Ranked(
        name=rows[0].configuration,
        rmse_db=rmse_db,
        rmse_constant_db=fmean(numbers(rows, "rmse_constant_db")),
        rmse_loss_db=0.0 if usual_db is None else rmse_db.median - usual_db,
        skill_by_place=_middle(numbers(rows, "skill_by_place")),
        share_of_central=_middle(numbers(rows, "share_of_central")),
        points_share=fmean(numbers(rows, "points_share")),
        strongest=strongest,
        is_baseline=usual_db is None,
        is_on_frontier=True,
        dominated_by=None,
        is_recommended=False,
        over_targets={f: _over_targets(rows, f, each) for f, each in strongest.items()},
        home_at_worst_m=min(homes_m, default=None),
        nearest_random_m=fmean(random_m) if random_m else None,
        seeds=len({row.seed for row in rows}),
        is_blind=all(_finds_nothing(own) for own in by_value(rows, "attack").values()),
        top_places=fmean(numbers(rows, "true_places")),
        no_home={str(row.target): str(why) for row in rows if (why := row.value("no_home"))},
        targets=len({row.target for row in rows}),
    )


def _strongest(rows: Sequence[TrialRow], figure: str) -> Strongest | None:
    """Of the attacks that have the figure in most runs."""
    by_attack = by_value(rows, "attack")
    found = {attack: _median(own, figure) for attack, own in by_attack.items()}
    medians = {attack: value for attack, value in found.items() if isfinite(value)}
    if not medians:
        return None
    worst = FIGURES[figure](list(medians.values()))
    attack = next(name for name, value in medians.items() if value == worst)
    known = numbers(by_attack[attack], figure)
    return Strongest(attack, Spread(worst, min(known), max(known)))


def _over_targets(rows: Sequence[TrialRow], figure: str, strongest: Strongest) -> tuple[float, ...]:
    own = [row for row in rows if row.attack == strongest.attack]
    return tuple(_median(each, figure) for each in by_value(own, "target").values())


def _median(rows: Sequence[TrialRow], figure: str) -> float:
    """Over all rows; infinite where most of them do not have the figure.

    Of the two middle values it is the one that is worse for the user: a mean of 10 m and 2,280 m
    would describe neither.
    """
    known = numbers(rows, figure)
    values = [*known, *[inf] * (len(rows) - len(known))]
    return median_low(values) if FIGURES[figure] is min else median_high(values)


def _finds_nothing(rows: Sequence[TrialRow]) -> bool:
    """Random points do as well; where nothing lies in the area, nothing was found."""
    if is_near(*(_middle(numbers(rows, name)) for name in ("nearest_m", "nearest_random_m"))):
        return False
    known = [numbers([row], "emd_m") + numbers([row], "cloud_emd_m") for row in rows]
    emd_m = _middle([min(emds_m) for emds_m in known if emds_m])
    random_m = _middle(numbers(rows, "emd_random_m"))
    return emd_m is None or random_m is None or is_no_better(emd_m, random_m)


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
