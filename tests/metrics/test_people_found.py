"""The share of people found within a distance."""

import pytest

from veilmap.errors import UserError
from veilmap.metrics.people_found import people_found


def test_a_person_at_the_radius_is_found():
    """Of 10, 50, 51 and 400 m: two within 50 m, three within 100 m and within 200 m."""
    assert people_found([10.0, 50.0, 51.0, 400.0]) == {50.0: 0.5, 100.0: 0.75, 200.0: 0.75}


def test_a_person_without_a_named_home_is_not_found():
    assert people_found([None, 0.0], radii_m=[1e9]) == {1e9: 0.5}


def test_a_larger_radius_never_finds_fewer():
    shares = people_found([3.0, 70.0, None, 150.0, 900.0], radii_m=range(0, 1000, 10))
    assert list(shares.values()) == sorted(shares.values())


def test_of_nobody_there_is_no_share():
    assert people_found([]) == {}


def test_a_radius_below_0_is_refused():
    with pytest.raises(UserError, match="radius_m must be at least 0, got -1"):
        people_found([1.0], radii_m=[-1.0])
