"""Whether a map beats the constant baseline, and an attack random points in the area."""

_NO_BETTER = 0.95  # above this share of the baseline's error nothing was gained
_LITTLE_SKILL = 1 - _NO_BETTER**2
_NEAR = 0.5  # below this share of random points' distance it is no chance


def is_no_better(error: float | None, of_baseline: float | None) -> bool:
    """Whether an error is about that of the baseline, or larger; not if one is unknown."""
    return error is not None and of_baseline is not None and error > _NO_BETTER * of_baseline


def has_skill(skill: float | None) -> bool:
    """Whether a map's skill says that it is better than the constant."""
    return skill is not None and skill >= _LITTLE_SKILL


def is_near(nearest_m: float | None, random_nearest_m: float | None) -> bool:
    """Whether locations are clearly nearer to true points than random points are."""
    if nearest_m is None or random_nearest_m is None:
        return False
    return nearest_m < _NEAR * random_nearest_m
