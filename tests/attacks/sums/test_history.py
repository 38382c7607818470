import numpy as np
import pytest

from tests.attacks.sums.making import OF_SUMS, given_of, history_of, plan_of
from tests.attacks.worlds import make_header as network_header
from veilmap.attacks.methods import ATTACKS
from veilmap.attacks.reconstruction import Outcome

HOME, SHOP = (25, 25), (525, 325)


def test_a_square_counts_once_in_every_round_that_names_it():
    history = history_of(plan_of(), [[HOME, HOME, SHOP], [HOME], [(-900, 0)]])
    assert history.often[history.squares].tolist() == [2, 1]
    assert history.centres_m.tolist() == [[25, 25], [525, 325]]
    assert history.spoken == 2


def test_in_a_sum_a_visit_counts_its_share_of_the_most_visited_square():
    plan = plan_of()
    history = history_of(plan, [[HOME, SHOP]])
    (visits,) = history.rounds
    visits.k[:] = 4, 1
    assert history.often[history.squares].tolist() == [1, 0.25]


@pytest.mark.parametrize("name", OF_SUMS)
def test_attacks_on_sums_read_the_kriging_map_alone(name):
    assert ATTACKS[name]().reads(given_of(plan_of(), []).header)
    assert not ATTACKS[name]().reads(network_header())


@pytest.mark.parametrize("name", OF_SUMS)
def test_messages_without_a_square_name_no_location(name):
    given = given_of(plan_of(), [[(-900, 0)], [(-900, 0)]])
    found = ATTACKS[name]().attack(given)
    assert [each.outcome for each in found] == [Outcome.NO_SIGNAL] * 2
    assert ATTACKS[name]().attack(given_of(plan_of(), [])) == []


@pytest.mark.parametrize("name", OF_SUMS)
def test_every_message_has_one_reconstruction_and_is_reported(name):
    done = []
    given = given_of(plan_of(), [[HOME, SHOP], [HOME]], on_done=done.append)
    found = ATTACKS[name]().attack(given)
    assert [each.round for each in found] == [1, 2]
    assert sum(done) == 2
    for each in found:
        assert each.cloud.weights.sum() == pytest.approx(1)
        assert np.isfinite(each.xy_m).all()
