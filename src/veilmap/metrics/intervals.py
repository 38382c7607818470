"""Confidence intervals of a mean over few runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from scipy import stats

from veilmap.errors import UserError, out_of_range, refuse


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval.

    Attributes:
        mean: the mean of the values.
        low: the lower end.
        high: the upper end.
        count: the number of values.
    """

    mean: float
    low: float
    high: float
    count: int


def paired_interval(differences: Sequence[float], confidence: float = 0.95) -> Interval | None:
    """Student's interval of the mean difference: mean ± t(n - 1) · s / √n.

    Each difference is of one pair, such as two runs with the same seed, so that effects on both
    cancel. Fewer than two differences have no interval and give None. Equal ones give an interval
    without width.

    Args:
        differences: one per pair, as if drawn from a normal distribution.
        confidence: how often such intervals hold the true mean.
    """
    refuse(_faults(differences, confidence))
    count = len(differences)
    if count < 2:
        return None
    if len(set(differences)) == 1:
        # The rounded mean of equal values is not always the value.
        only = float(differences[0])
        return Interval(only, only, only, count)
    mean = float(np.mean(differences))
    error = float(np.std(differences, ddof=1)) / count**0.5
    half = float(stats.t.ppf((1.0 + confidence) / 2.0, count - 1)) * error
    return Interval(mean, mean - half, mean + half, count)


def _faults(differences: Sequence[float], confidence: float) -> Iterator[UserError]:
    if not 0.0 < confidence < 1.0:
        yield out_of_range("confidence", "between 0 and 1", confidence)
    strange = [value for value in differences if not isfinite(value)]
    if strange:
        yield out_of_range("every difference", "a finite number", strange[0])
