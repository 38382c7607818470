"""The attackers who see no message."""

import numpy as np
import pytest

from tests.attacks.sums.test_squares import header_of, seen_of
from tests.maps.walks import AREA, make_plan, walks
from veilmap.attacks.attack import AttackInput, attacked
from veilmap.attacks.blind import Blind
from veilmap.attacks.density import Density
from veilmap.attacks.prior import Prior
from veilmap.errors import UserError

HOMES = Density(
    np.array([[40.0, 40.0], [60.0, 40.0], [900.0, 400.0]]), np.array([3.0, 1, 2]), "", False
)


def found_by(attack):
    plan = make_plan()
    seen = seen_of(plan, walks(rounds=3))
    return attacked(attack, attack.name, AttackInput(header_of(plan), seen)), seen


def test_the_blind_guess_is_the_middle_of_the_area_for_every_update():
    found, seen = found_by(Blind())
    assert [(each.round, each.user) for each in found] == [(each.round, each.user) for each in seen]
    assert {tuple(each.xy_m) for each in found} == {tuple(AREA.centre_m)}


def test_the_prior_is_the_density_and_names_the_place_with_most_of_it():
    """3 and 1 within one disc of 50 m against 2: their mean is (45, 40)."""
    found, _ = found_by(Prior(HOMES))
    assert found[0].xy_m == pytest.approx([45.0, 40.0])
    assert found[0].cloud.weights == pytest.approx([1 / 2, 1 / 6, 1 / 3])
    assert all(each.cloud is found[0].cloud for each in found)


@pytest.mark.parametrize("oracle", [False, True])
def test_the_prior_is_an_oracle_if_its_density_is(oracle):
    assert Prior(Density(HOMES.xy_m, HOMES.weights, "", oracle)).oracle is oracle
    assert not Blind().oracle


def test_a_density_without_weight_is_refused():
    with pytest.raises(UserError, match="finite, none negative and not all 0"):
        Density(HOMES.xy_m, np.zeros(3), "", False)
