import numpy as np
import pytest

from veilmap.shadows.home_map import HomeMap

LINE_M = np.column_stack([np.arange(0.0, 1000, 100), np.zeros(10)])
CHANCES = np.array([1.0, 3, 0, 0, 0, 0, 0, 2, 4, 0])


def test_shares_are_the_chances_to_the_power_of_the_sharpness():
    assert HomeMap.of(LINE_M, CHANCES, 1.0).shares == pytest.approx(CHANCES / 10)
    assert HomeMap.of(LINE_M, CHANCES, 2.0).shares == pytest.approx(CHANCES**2 / 30)
    assert HomeMap.of(LINE_M, np.zeros(10), 1.0).shares == pytest.approx(0.1)


def test_the_guess_is_the_disc_that_holds_most_and_its_mass_is_what_it_promises():
    found = HomeMap.of(LINE_M, CHANCES, 1.0)
    assert found.guess_m().tolist() == [800, 0]
    assert found.mass(found.guess_m(), 50) == pytest.approx(0.4)
    assert found.mass(found.guess_m(), 100) == pytest.approx(0.6)
    assert found.cloud.xy_m[:, 0].tolist() == [0, 100, 700, 800]


def test_the_rank_of_home_is_the_mass_that_is_likelier_and_half_of_what_is_as_likely():
    """At 800 m is the most: nothing above, half of 0.4. At 100 m 0.4 is above, half of 0.3."""
    found = HomeMap.of(LINE_M, CHANCES, 1.0)
    assert found.more_likely(np.array([790.0, 5.0])) == pytest.approx(0.2)
    assert found.more_likely(np.array([100.0, 0.0])) == pytest.approx(0.55)
    assert found.more_likely(np.array([500.0, 0.0])) == pytest.approx(1.0)
