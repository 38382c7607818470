import os
from itertools import combinations

import pytest

from veilmap.flower.secure.shares import combine, split


@pytest.mark.parametrize("size", [16, 32])
def test_any_three_of_five_shares_give_the_secret(size):
    secret = os.urandom(size)
    shares = dict(enumerate(split(secret, 3, 5), start=1))
    assert {len(share) for share in shares.values()} == {size}
    for places in combinations(shares, 3):
        assert combine({place: shares[place] for place in places}, 3) == secret


def test_more_shares_than_the_threshold_give_the_secret_too():
    secret = os.urandom(32)
    assert combine(dict(enumerate(split(secret, 3, 5), start=1)), 3) == secret


def test_two_of_five_shares_do_not_give_the_secret():
    secret = os.urandom(16)
    first, second, *_ = split(secret, 3, 5)
    assert combine({1: first, 2: second}, 3) != secret


def test_the_halves_of_a_secret_are_shared_independently():
    share = split(bytes(32), 3, 5)[0]
    assert share[:16] != share[16:]
