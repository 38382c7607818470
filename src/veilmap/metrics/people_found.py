"""The share of people whose home is found within a distance: P(error ≤ r)."""

from collections.abc import Sequence

from veilmap.errors import refuse, too_low

# From the same house to the next street.
RADII_M = (50.0, 100.0, 200.0)


def people_found(
    home_errors_m: Sequence[float | None], radii_m: Sequence[float] = RADII_M
) -> dict[float, float]:
    """By radius, the share of people whose home error is at most that; empty for nobody.

    Args:
        home_errors_m: one per person; None, where no home is named, counts as not found.
        radii_m: how far off a home may be to count as found.
    """
    refuse(fault for radius_m in radii_m for fault in too_low(0, radius_m=radius_m))
    people = len(home_errors_m)
    if not people:
        return {}
    known_m = [error_m for error_m in home_errors_m if error_m is not None]
    return {
        radius_m: sum(error_m <= radius_m for error_m in known_m) / people for radius_m in radii_m
    }
