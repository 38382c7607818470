import pytest

from tests.attacks.sums.making import given_of, heaviest_m, plan_of
from veilmap.attacks.sums.frequency import Frequency

HOME, SHOP, PARK = (25, 25), (525, 325), (825, 525)


def test_squares_weigh_as_many_rounds_as_name_them():
    """Home in three rounds, the shop in two, the park in one."""
    found = Frequency().attack(given_of(plan_of(), [[HOME, SHOP], [HOME, SHOP], [HOME, PARK]]))
    assert found[0].cloud.xy_m.tolist() == [[25, 25], [525, 325]]
    assert found[0].cloud.weights == pytest.approx([3 / 5, 2 / 5])
    assert found[2].cloud.weights == pytest.approx([3 / 4, 1 / 4])
    assert found[0].xy_m == pytest.approx([0.6 * 25 + 0.4 * 525, 0.6 * 25 + 0.4 * 325])


def test_of_all_rounds_together_the_heaviest_place_is_where_the_phone_comes_back_to():
    rounds = [[HOME, (125 + 50 * t, 225), (325 + 50 * t, 425)] for t in range(8)]
    assert heaviest_m(Frequency().attack(given_of(plan_of(), rounds))) == pytest.approx(HOME)
