from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.sums.making import header_of
from tests.maps.walks import USERS, last_of, make_plan, walks
from veilmap.attacks.attack import AttackInput, attacked
from veilmap.attacks.secure_sum import secure_sum
from veilmap.attacks.sums.differencing import Differencing, rest
from veilmap.attacks.sums.frequency import Frequency
from veilmap.attacks.sums.posterior import Posterior
from veilmap.federation.observation import Recorder

PLAN = make_plan()
HEADER = header_of(PLAN)


def seen_of(rounds=3, layout="dense"):
    recorder = Recorder()
    last_of(make_plan(layout=layout), walks(rounds), USERS, recorder)
    return recorder.observations


def summed(seen):
    return list(secure_sum(HEADER, seen))


def others_than(user, seen):
    return {each.round: each for each in summed(each for each in seen if each.user != user)}


def test_a_sum_less_the_others_is_the_message_to_the_bit():
    seen = seen_of()
    for total in summed(seen):
        left = rest(total, others_than("b", seen)[total.round])
        (own,) = [each for each in seen if (each.round, each.user) == (total.round, "b")]
        assert left.n == own.n
        for name, value in own.message.items():
            wanted = value * (1 if name == "visited" else 1 / 128)
            assert np.array_equal(left.message[name], wanted)


def test_it_finds_in_sums_what_the_attack_on_single_messages_finds():
    seen = seen_of()
    given = AttackInput(HEADER, summed(seen), others=others_than("b", seen))
    own = AttackInput(HEADER, [each for each in seen if each.user == "b"])
    for method in (Posterior(), Frequency()):
        of_sums = attacked(Differencing(method), "differencing", given)
        for one, other in zip(of_sums, method.attack(own), strict=True):
            assert np.array_equal(one.cloud.xy_m, other.cloud.xy_m)
            assert np.array_equal(one.cloud.weights, other.cloud.weights)


def test_a_message_that_nobody_was_added_to_is_read_as_it_is():
    own = [each for each in seen_of() if each.user == "b"]
    found = Differencing().attack(AttackInput(HEADER, own))
    alone = Posterior().attack(AttackInput(HEADER, own))
    assert [each.xy_m.tolist() for each in found] == [each.xy_m.tolist() for each in alone]


def test_it_is_an_oracle_and_says_of_what():
    assert Differencing().oracle
    assert Differencing().oracle_text == "everybody else's messages, for differencing"


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_the_layout_of_messages_does_not_matter(layout):
    seen = seen_of(layout=layout)
    given = AttackInput(HEADER, summed(seen), others=others_than("b", seen))
    same = replace(given, observations=summed(seen_of()), others=others_than("b", seen_of()))
    for one, other in zip(Differencing().attack(given), Differencing().attack(same), strict=True):
        assert np.array_equal(one.cloud.weights, other.cloud.weights)
