from dataclasses import replace

import pytest

from veilmap.flower.secure.keys import PrivateKeys
from veilmap.flower.secure.roster import Roster
from veilmap.flower.secure.round_error import RoundError


@pytest.fixture(scope="module")
def five():
    keys = {node: PrivateKeys.generate().public for node in (9, 3, 5, 1, 7)}
    return Roster(b"round", keys, 3)


def first(count, roster):
    return dict(sorted(roster.keys.items())[:count])


@pytest.mark.parametrize(
    ("count", "threshold", "words"),
    [
        (2, 2, "needs 3 to 65536 nodes, got 2"),
        (3, 2, "at least 3, more than half of the 3 nodes and not above them, got 2"),
        (5, 2, "threshold must be .* got 2"),
        (5, 6, "threshold must be .* got 6"),
    ],
)
def test_too_few_nodes_and_a_wrong_threshold_are_refused(five, count, threshold, words):
    with pytest.raises(RoundError, match=words):
        Roster(b"round", first(count, five), threshold)


@pytest.mark.parametrize("nodes", [6, 7])
def test_the_threshold_must_be_more_than_half(nodes):
    keys = {node: PrivateKeys.generate().public for node in range(nodes)}
    Roster(b"round", keys, 4)
    with pytest.raises(RoundError, match="more than half"):
        Roster(b"round", keys, 3)


def test_a_key_that_appears_twice_is_refused(five):
    for twice in (five.keys[3], replace(five.keys[1], masking=five.keys[3].sealing)):
        with pytest.raises(RoundError, match="appears twice"):
            Roster(b"round", dict(five.keys) | {1: twice}, 3)


def test_a_round_without_a_name_is_refused(five):
    with pytest.raises(RoundError, match="context must name"):
        Roster(b"", five.keys, 3)


@pytest.mark.parametrize("node", [-1, 2**64])
def test_an_id_that_is_not_flowers_is_refused(five, node):
    with pytest.raises(RoundError, match="node ids"):
        Roster(b"round", dict(five.keys) | {node: PrivateKeys.generate().public}, 4)


def test_places_follow_the_ids_and_not_the_order_of_arrival(five):
    assert five.places == {1: 1, 3: 2, 5: 3, 7: 4, 9: 5}
    assert Roster(b"round", first(5, five), 3).digest == five.digest


def test_every_part_of_the_roster_changes_its_digest(five):
    others = [
        replace(five, context=b"next"),
        replace(five, threshold=4),
        replace(five, keys=first(4, five)),
        replace(five, keys=dict(five.keys) | {1: five.keys[3], 3: five.keys[1]}),
    ]
    assert len({five.digest, *(other.digest for other in others)}) == 5


def test_fewer_than_the_threshold_and_strangers_are_refused(five):
    five.check_enough([1, 3, 5], "the list")
    with pytest.raises(RoundError, match="the list has 2 of 5 nodes, and 3 are required"):
        five.check_enough([1, 3, 3], "the list")
    with pytest.raises(RoundError, match=r"did not advertise: \[2\]"):
        five.check_enough([1, 2, 3], "the list")
