"""The places where a person spends time: discs, chosen greedily by the weight they hold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import dist, isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from veilmap.errors import UserError, out_of_range, refuse, too_low
from veilmap.metrics.hours import Hours
from veilmap.metrics.weighted_points import (
    Points,
    Weights,
    as_arrays,
    on_squares,
    point_set_faults,
    square_numbers,
)
from veilmap.wording import counted

# Far finer than a place, and coarse enough that 40,000 points fall on a few thousand squares.
_SQUARE_M = 5.0
# Weight below this share is noise.
_REST = 0.01
# A grid has neighbours at exactly the radius; rounding must not decide about them.
_SLACK_M = 1e-6
# Squares at once: a crowded disc of 50 m holds 314 of them, with 24 bytes per pair.
BLOCK = 2048
# At one place: a single night may be a party, or a drive that began after ten.
_NIGHTS_OF_A_HOME = 2
# Nearer than this, the place of work is home itself or its garden.
_WORK_FROM_HOME_M = 200.0


@dataclass(frozen=True)
class Place:
    """A place, and the share of the weight in it.

    Attributes:
        xy_m: the weighted mean of what lies there.
        share: of all weight.
        night_share: of all weight at night; 0 where no hours are known.
        work_share: of all weight in working hours; 0 where no hours are known.
        nights: different nights with weight there; None where no hours are known.
    """

    xy_m: tuple[float, float]
    share: float
    night_share: float
    work_share: float
    nights: int | None = None

    def away_m(self, other: "Place") -> float:
        """The distance to another place."""
        return dist(self.xy_m, other.xy_m)


class NoHome(Enum):
    """Why nobody can say where a person lives."""

    NO_HOURS = "rounds of more than 3 hours have no hour of the day"
    NO_NIGHT = "no measurement between 22:00 and 07:00 at a main place"
    ONE_NIGHT = "measurements between 22:00 and 07:00 on one night only at a main place"


@dataclass(frozen=True)
class Home:
    """The likely home; without nights, only the heaviest place, and why it is no more.

    ``why_heaviest`` is None for a home.
    """

    place: Place
    why_heaviest: NoHome | None = None

    @property
    def by(self) -> Literal["hours", "weight"]:
        """What it rests on."""
        return "hours" if self.why_heaviest is None else "weight"


def find_places(
    xy_m: Points,
    weights: Weights | None = None,
    hours: Hours | None = None,
    *,
    radius_m: float = 50.0,
    most: int = 10,
) -> tuple[Place, ...]:
    """Greedily the disc that holds the most remaining weight, the place with most weight first.

    Args:
        xy_m: positions, one row (east, north) per point.
        weights: how much each point counts; equally when not given.
        hours: when each point was measured, if that is known.
        radius_m: of the discs; their centres are squares of 5 m that hold points.
        most: stop after so many places, or when less than 1 % of the weight remains.
    """
    (xy_m,), (mass,) = as_arrays([xy_m], [weights])
    refuse(_faults(xy_m, mass, hours, radius_m, most))
    held = mass > 0
    xy_m, mass = xy_m[held], mass[held]
    hours = None if hours is None else hours.take(np.flatnonzero(held))
    never = np.zeros(len(mass), bool)
    night, work = (hours.night, hours.work) if hours is not None else (never, never)
    square = square_numbers(xy_m, _SQUARE_M)
    centres_m, masses = on_squares(xy_m, square, np.array([mass, mass * night, mass * work]))
    totals = masses.sum(axis=1)
    return tuple(
        replace(
            _place(centres_m[inside], masses[:, inside], totals),
            nights=None if hours is None else _nights(hours, square, inside),
        )
        for inside in _discs(centres_m, masses[0], radius_m + _SLACK_M, most)
    )


def likely_home(places: Sequence[Place]) -> Home | None:
    """Of the places with at least two nights the one with most of the nights' weight.

    Without such a place nobody can say where the person lives, and it is the heaviest place.
    """
    if not places:
        return None
    lived_in = [place for place in places if (place.nights or 0) >= _NIGHTS_OF_A_HOME]
    if lived_in:
        return Home(max(lived_in, key=lambda place: place.night_share))
    return Home(max(places, key=lambda place: place.share), _why_no_home(places))


def likely_work(places: Sequence[Place]) -> Place | None:
    """The place with most of the working hours, more than 200 m from home; None without a home."""
    home = likely_home(places)
    if home is None or home.why_heaviest is not None:
        return None
    away = [
        place
        for place in places
        if place.work_share > 0 and place.away_m(home.place) > _WORK_FROM_HOME_M
    ]
    return max(away, key=lambda place: place.work_share, default=None)


def _why_no_home(places: Sequence[Place]) -> NoHome:
    nights = [place.nights for place in places if place.nights is not None]
    if not nights:
        return NoHome.NO_HOURS
    return NoHome.ONE_NIGHT if any(nights) else NoHome.NO_NIGHT


def _nights(hours: Hours, square: NDArray[np.intp], inside: NDArray[np.intp]) -> int:
    """How many different nights have a point on these squares."""
    of_night = hours.night & np.isin(square, inside)
    return len(np.unique(hours.evening[of_night]))


def _discs(
    xy_m: Points, weights: Weights, radius_m: float, most: int
) -> Iterator[NDArray[np.intp]]:
    """The squares inside each disc in turn; a square belongs to the first disc that holds it."""
    tree, left, enough = KDTree(xy_m), weights.copy(), _REST * weights.sum()
    held = _held(tree, left, np.arange(len(xy_m)), radius_m)
    for _ in range(most):
        if left.sum() < enough:
            return
        centre = xy_m[np.argmax(held)]
        inside = np.array(tree.query_ball_point(centre, radius_m, return_sorted=True))
        inside = inside[left[inside] > 0]
        yield inside
        left[inside] = 0
        # Only discs that reach into this one hold less now.
        touched = np.array(tree.query_ball_point(centre, 2 * radius_m))
        held[touched] = _held(tree, left, touched, radius_m)
        held[left == 0] = 0


def _held(
    tree: KDTree, weights: Weights, rows: NDArray[np.intp], radius_m: float
) -> NDArray[np.float64]:
    """The weight within the radius of each of the rows' squares."""
    held = np.zeros(len(rows))
    for start in range(0, len(rows), BLOCK):
        block = KDTree(tree.data[rows[start : start + BLOCK]])
        pairs = block.sparse_distance_matrix(tree, radius_m, output_type="ndarray")
        # Each square is within its own radius, so every square occurs in the counts.
        held[start : start + BLOCK] = np.bincount(pairs["i"], weights[pairs["j"]])
    return held


def _place(xy_m: Points, masses: NDArray[np.float64], totals: NDArray[np.float64]) -> Place:
    x_m, y_m = np.average(xy_m, axis=0, weights=masses[0]).tolist()
    shares = np.divide(masses.sum(axis=1), totals, out=np.zeros(len(totals)), where=totals > 0)
    share, night_share, work_share = shares.tolist()
    return Place((x_m, y_m), share, night_share, work_share)


def _faults(
    xy_m: Points, weights: Weights, hours: Hours | None, radius_m: float, most: int
) -> Iterator[UserError]:
    yield from point_set_faults([xy_m], [weights])
    if hours is not None and len(hours) != len(xy_m):
        points = counted(len(xy_m), "point")
        yield UserError(f"hours must be one per point, got {len(hours):,} for {points}")
    if not (isfinite(radius_m) and radius_m > 0):
        yield out_of_range("radius_m", "above 0 metres", radius_m)
    yield from too_low(1, most=most)
