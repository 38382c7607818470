import numpy as np
import pytest
from scipy import stats

from veilmap.errors import UserError
from veilmap.metrics.intervals import Interval, paired_interval


def test_three_differences_by_hand():
    """1, 2, 3: mean 2, s = 1, t(2) at 97.5 % = 4.302653, so 2 ± 4.302653 / √3 = 2 ± 2.484138."""
    found = paired_interval([1.0, 2.0, 3.0])
    assert (found.mean, found.count) == (2.0, 3)
    assert (found.low, found.high) == pytest.approx((-0.484138, 4.484138), abs=1e-6)


def test_two_differences_are_enough():
    """1, 3: mean 2, s = √2, t(1) at 97.5 % = 12.706205, so 2 ± 12.706205."""
    found = paired_interval([1.0, 3.0])
    assert (found.low, found.high) == pytest.approx((-10.706205, 14.706205), abs=1e-6)


def test_an_interval_without_zero_is_what_the_paired_t_test_calls_significant():
    draw = np.random.default_rng(0)
    for shift in (0.0, 0.5, 1.0, 2.0):
        ours, theirs = draw.normal(0, 1, 8), draw.normal(shift, 1, 8)
        found = paired_interval(list(theirs - ours))
        is_significant = stats.ttest_rel(theirs, ours).pvalue < 0.05
        assert (found.low > 0 or found.high < 0) == is_significant


def test_nineteen_of_twenty_intervals_hold_the_true_mean():
    """2000 draws of 4: the share is binomial, 0.95 ± 0.005; we allow three times that."""
    draw = np.random.default_rng(1)
    found = [paired_interval(list(row)) for row in draw.normal(3.0, 2.0, (2000, 4))]
    share = np.mean([each.low <= 3.0 <= each.high for each in found])
    assert share == pytest.approx(0.95, abs=0.015)


def test_more_confidence_is_a_wider_interval():
    low, high = (paired_interval([1.0, 2.0, 4.0], share) for share in (0.5, 0.99))
    assert high.low < low.low < low.high < high.high


def test_equal_differences_have_no_width():
    assert paired_interval([0.1] * 3) == Interval(0.1, 0.1, 0.1, 3)


@pytest.mark.parametrize("few", [[], [1.0]])
def test_fewer_than_two_tell_nothing(few):
    assert paired_interval(few) is None


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1.5, 95])
def test_what_is_no_share_is_refused(confidence):
    with pytest.raises(UserError, match=rf"confidence must be between 0 and 1, got {confidence}"):
        paired_interval([1.0, 2.0], confidence)


def test_the_first_that_is_no_number_is_refused():
    with pytest.raises(UserError, match=r"every difference must be a finite number, got nan"):
        paired_interval([1.0, float("nan"), float("inf")])
