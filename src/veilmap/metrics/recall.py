"""The share of a person's places that an attack found, and its errors for home and work."""

from collections.abc import Sequence

from veilmap.metrics.places import Place, likely_home, likely_work


def recall(true: Sequence[Place], found: Sequence[Place], within_m: float) -> float:
    """The share of the true places with a found place within the radius; all count the same."""
    hits = [any(place.away_m(other) <= within_m for other in found) for place in true]
    return sum(hits) / len(hits)


def home_error_m(true: Sequence[Place], found: Sequence[Place]) -> float | None:
    """The distance between the true and the found home; None where one of them is unknown.

    A person without nights has no home: then it is the distance to the heaviest place.
    """
    true_home, found_home = likely_home(true), likely_home(found)
    if true_home is None or found_home is None:
        return None
    return true_home.place.away_m(found_home.place)


def work_error_m(true: Sequence[Place], found: Sequence[Place]) -> float | None:
    """As ``home_error_m``, for the place of work."""
    true_work, found_work = likely_work(true), likely_work(found)
    if true_work is None or found_work is None:
        return None
    return true_work.away_m(found_work)
