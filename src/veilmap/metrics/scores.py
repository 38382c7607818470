"""What a location attack on one user comes to, in figures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from veilmap.area import Area
from veilmap.errors import UserError, out_of_range, refuse
from veilmap.local_data import LocalData
from veilmap.metrics.clouds import Pool, WeightedPoints, cloud_faults, in_area, pool
from veilmap.metrics.distances import (
    centroid_distances_m,
    emds_or_none_m,
    mean_or_none,
    median_or_none,
    nearest_distances_m,
    random_emd_m,
    random_nearest_m,
    root_or_none,
    round_emd_m,
)
from veilmap.metrics.hours import Hours
from veilmap.metrics.places import Place, find_places, likely_home
from veilmap.metrics.recall import home_error_m, recall, work_error_m
from veilmap.wording import counted

UNDEFINED = "-"
_TRUE_PLACES = 5
# A longer round has no hour of its own.
LONGEST_WITH_HOURS_S = 3 * 3600.0


@dataclass(frozen=True)
class Scores:
    """The figures; None where one is not defined. They hold no true position.

    Attributes:
        rounds: that were attacked.
        emd_m: sliced EMD between all true points and the locations found inside the area, as the
            paper does it: those outside are diverged and left out.
        emd_paper: its square root, the paper's number.
        emd_random_m: the same for as many uniform random points in the area, mean of 5 draws.
        emd_random_paper: the mean of their square roots.
        cloud_emd_m: between all true points and all clouds, each round with the weight of the
            points trained on.
        round_emd_m: median over rounds, between a round's true points and its cloud; a round
            without a cloud counts as infinitely far.
        diverged_share: of the rounds, with a location outside the area or none.
        distance_m: from the centroid of the whole round, mean over the rounds that did not diverge.
        distance_median_m: median over all rounds, no location counting as infinitely far.
        nearest_m: from the nearest true point of the round, median over all rounds.
        nearest_random_m: the same for uniform random points in the area, mean of 5 draws.
        recall_25m: the share of the true top 5 places with one of 10 found places within 25 m.
        recall_50m: within 50 m.
        recall_100m: within 100 m.
        home_error_m: between the true and the found home; of a user without a home, between the
            heaviest true place and the found home.
        work_error_m: between the true and the found place of work.
        home_by: what the found home rests on, "hours" or "weight".
        true_home_by: what the true one rests on; "weight" is the heaviest place and no home.
        no_home: why the user has no home in the data, in words; None for one who has.
        iterations: mean over rounds.
        seconds: sum over rounds.
        places: those found, the one with most weight first.
    """

    rounds: int
    emd_m: float | None = None
    emd_paper: float | None = None
    emd_random_m: float | None = None
    emd_random_paper: float | None = None
    cloud_emd_m: float | None = None
    round_emd_m: float | None = None
    diverged_share: float | None = None
    distance_m: float | None = None
    distance_median_m: float | None = None
    nearest_m: float | None = None
    nearest_random_m: float | None = None
    recall_25m: float | None = None
    recall_50m: float | None = None
    recall_100m: float | None = None
    home_error_m: float | None = None
    work_error_m: float | None = None
    home_by: str | None = None
    true_home_by: str | None = None
    no_home: str | None = None
    iterations: float | None = None
    seconds: float = 0.0
    places: tuple[Place, ...] = ()

    def __post_init__(self) -> None:
        refuse(
            out_of_range(name, "finite or None", value)
            for name, value in vars(self).items()
            if isinstance(value, float) and not isfinite(value)
        )

    def figures(self) -> dict[str, Any]:
        """All but the places, which are positions."""
        return {name: value for name, value in vars(self).items() if name != "places"}

    def text(self, name: str, spec: str = "") -> str:
        """One figure as text in a format such as ``,.0f``; a dash where it is not defined."""
        value = getattr(self, name)
        return UNDEFINED if value is None else format(value, spec)


def score(
    truth: Sequence[LocalData] | None,
    found_m: ArrayLike,
    clouds: Sequence[WeightedPoints],
    *,
    n: Sequence[int],
    area: Area,
    interval_s: float,
    timezone: str,
    start_s: ArrayLike,
    iterations: ArrayLike,
    seconds: ArrayLike,
    seed: int,
    projections: int = 1000,
    places_in_truth: Sequence[Place] | None = None,
) -> Scores:
    """Compare what an attack found, round by round, with where the user was.

    Args:
        truth: all points of the user in each round, also those that were not trained on; None if
            unknown: then only figures that need no ground truth are given.
        found_m: the location found in each round, NaN where there is none.
        clouds: per round the distribution found, positions and weights; what lies outside the area
            or is not finite is left out.
        n: the points trained on in each round, which the server knows and weighs the clouds by.
        area: where the attacker looks.
        interval_s: T, the duration of a round.
        timezone: the clock that home and work go by.
        start_s: when each round began.
        iterations: of each round's attack.
        seconds: spent on each round's attack.
        seed: of the random reference.
        projections: of the EMD over all rounds.
        places_in_truth: those of ``true_places``, where several attacks are compared with them.
    """
    found_m = np.asarray(found_m, np.float64)
    start_s, iterations, seconds = (
        np.asarray(values, np.float64) for values in (start_s, iterations, seconds)
    )
    per_round = {"start_s": start_s, "iterations": iterations, "seconds": seconds}
    rounds = len(n)
    refuse(_faults(rounds, truth, found_m, clouds, interval_s, per_round))
    if not rounds:
        return Scores(rounds=0)
    inside = area.contains(found_m)
    usable = [in_area(cloud, area) for cloud in clouds]
    pooled = pool(usable, n)
    places = _found_places(pooled, start_s, interval_s, timezone)
    home = likely_home(places)
    blind = Scores(
        rounds=rounds,
        diverged_share=float(1 - inside.mean()),
        home_by=home.by if home else None,
        iterations=mean_or_none(iterations),
        seconds=float(seconds.sum()),
        places=places,
    )
    if truth is None:
        return blind
    true = LocalData.join(truth)
    emd, cloud_emd = emds_or_none_m(
        true.xy_m, [found_m[inside], pooled.xy_m], [None, pooled.weights], projections
    )
    random_m = random_emd_m(true.xy_m, area, int(inside.sum()), seed)
    away_m = centroid_distances_m(truth, found_m)
    known = true_places(truth, timezone) if places_in_truth is None else places_in_truth
    true_home = likely_home(known)
    why = true_home.why_heaviest if true_home else None
    return replace(
        blind,
        emd_m=emd,
        emd_paper=root_or_none(emd),
        emd_random_m=mean_or_none(random_m),
        emd_random_paper=mean_or_none(np.sqrt(random_m)),
        cloud_emd_m=cloud_emd,
        round_emd_m=round_emd_m(truth, usable),
        distance_m=mean_or_none(away_m[inside]),
        distance_median_m=median_or_none(away_m),
        nearest_m=median_or_none(nearest_distances_m(truth, found_m)),
        nearest_random_m=random_nearest_m(truth, area, seed),
        recall_25m=recall(known[:_TRUE_PLACES], places, within_m=25.0),
        recall_50m=recall(known[:_TRUE_PLACES], places, within_m=50.0),
        recall_100m=recall(known[:_TRUE_PLACES], places, within_m=100.0),
        home_error_m=home_error_m(known, places),
        work_error_m=work_error_m(known, places),
        true_home_by=true_home.by if true_home else None,
        no_home=why.value if why else None,
    )


def true_places(truth: Sequence[LocalData], timezone: str) -> tuple[Place, ...]:
    """Where the user was, over all rounds, with the hours that they were there."""
    true = LocalData.join(truth)
    return find_places(true.xy_m, hours=Hours.local(true.time_s, timezone))


def _found_places(
    pooled: Pool, start_s: NDArray[np.float64], interval_s: float, timezone: str
) -> tuple[Place, ...]:
    """In the clouds; the weight of a short round carries the hour of the round's middle."""
    if not len(pooled):
        return ()
    hours = None
    if interval_s <= LONGEST_WITH_HOURS_S:
        hours = Hours.local(start_s + interval_s / 2, timezone).take(pooled.of_round)
    return find_places(pooled.xy_m, pooled.weights, hours)


def _faults(
    rounds: int,
    truth: Sequence[LocalData] | None,
    found_m: NDArray[np.float64],
    clouds: Sequence[WeightedPoints],
    interval_s: float,
    per_round: Mapping[str, NDArray[np.float64]],
) -> Iterator[UserError]:
    given = f"for {counted(rounds, 'round')}"
    # An empty list has no second axis.
    if found_m.shape != (rounds, 2) and (rounds or found_m.size):
        shape = found_m.shape
        yield UserError(f"found_m must be one row (x, y) per round, got shape {shape} {given}")
    if len(clouds) != rounds:
        yield UserError(f"clouds must be one per round, got {len(clouds):,} {given}")
    if not (isfinite(interval_s) and interval_s > 0):
        yield out_of_range("interval_s", "above 0 seconds", interval_s)
    for name, values in per_round.items():
        bad = int((~np.isfinite(values)).sum())
        if values.shape != (rounds,) or bad:
            yield UserError(
                f"{name} must be one finite value per round, got shape {values.shape} with "
                f"{bad:,} not finite {given}"
            )
    if truth is not None and len(truth) != rounds:
        yield UserError(f"truth must be one per round, got {len(truth):,} {given}")
    for number, this in enumerate(truth or (), 1):
        if len(this) == 0:
            yield UserError(f"round {number:,} of {rounds:,} has no true points; leave it out")
    yield from cloud_faults(clouds)
