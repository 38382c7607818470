import math

import numpy as np
import pytest

from veilmap.errors import UserError
from veilmap.kriging.kernel import PUBLIC, Kernel


def test_the_covariance_is_the_sum_of_two_exponentials():
    """At 0: 3² + 4² = 25. At 100 m: 9/e + 16/e² = 5.476."""
    kernel = Kernel(short_db=3.0, short_m=100.0, long_db=4.0, long_m=50.0)
    found = kernel.covariance(np.array([0.0, 100.0]))
    assert found == pytest.approx([25.0, 9 / math.e + 16 / math.e**2])
    assert kernel.std_db == 5.0


def test_what_is_farther_tells_less():
    found = PUBLIC.covariance(np.linspace(0, 10_000, 100))
    assert (np.diff(found) < 0).all()
    assert PUBLIC.covariance(np.array([1e9])) == 0


def test_distances_are_left_as_they_are():
    distance_m = np.array([1.0, 2.0])
    PUBLIC.covariance(distance_m)
    assert distance_m.tolist() == [1.0, 2.0]


def test_logarithms_there_and_back_are_the_same_kernel():
    kernel = Kernel(1.5, 20.0, 8.0, 900.0, 0.7)
    back = Kernel.of_logs(kernel.logs())
    assert list(vars(back).values()) == pytest.approx(list(vars(kernel).values()))


@pytest.mark.parametrize("name", vars(PUBLIC))
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_number_that_is_not_above_0_is_refused(name, value):
    with pytest.raises(UserError, match=f"{name} must be a finite number above 0, got {value}"):
        Kernel(**{name: value})
