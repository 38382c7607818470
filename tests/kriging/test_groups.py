import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from veilmap.kriging.groups import medians


def test_the_median_is_the_middle_or_between_the_two_in_the_middle():
    """Group 0 has 9, 1, 5; group 1 has 2, 4 and two equal 8."""
    values = np.array([9.0, 8.0, 1.0, 2.0, 5.0, 8.0, 4.0])
    assert medians(values, np.array([0, 1, 0, 1, 0, 1, 1])).tolist() == [5.0, 6.0]


@given(st.lists(st.tuples(st.floats(-200, 0), st.integers(0, 4)), min_size=1))
def test_they_are_those_of_numpy(pairs):
    values, given_groups = (np.array(each) for each in zip(*pairs, strict=True))
    _, group = np.unique(given_groups, return_inverse=True)
    expected = [np.median(values[group == number]) for number in range(group.max() + 1)]
    np.testing.assert_array_equal(medians(values, group), expected)
