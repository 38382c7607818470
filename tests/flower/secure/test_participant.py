from dataclasses import replace

import numpy as np
import pytest

from tests.flower.secure.playing import CONTEXT, Play, masked_round
from veilmap.flower.secure.collector import relay
from veilmap.flower.secure.encoding import encode
from veilmap.flower.secure.keys import PrivateKeys
from veilmap.flower.secure.masks import own_mask
from veilmap.flower.secure.participant import advertise, mask, share, unmask
from veilmap.flower.secure.round_error import RoundError
from veilmap.flower.secure.stages import from_record, to_record


@pytest.fixture
def shared():
    return Play(5, 3).advertise().share()


@pytest.fixture
def masked():
    return masked_round()


def test_every_round_has_keys_of_its_own():
    assert advertise(CONTEXT, 1)[1] != advertise(CONTEXT, 1)[1]


def test_two_nodes_are_refused():
    play = Play(2, 2).advertise()
    with pytest.raises(RoundError, match="needs 3 to 65536 nodes, got 2"):
        share(play.states[play.nodes[0]], play.keys, 2)


@pytest.mark.parametrize("key", ["sealing", "masking"])
def test_a_node_whose_own_keys_were_swapped_stays_out(key):
    play = Play(5, 3).advertise()
    node = play.nodes[0]
    false = getattr(PrivateKeys.generate().public, key)
    play.keys[node] = replace(play.keys[node], **{key: false})
    with pytest.raises(RoundError, match="came back changed or not at all"):
        share(play.states[node], play.keys, 3)


def test_a_node_that_is_left_off_the_list_stays_out():
    play = Play(5, 3).advertise()
    node = play.nodes[0]
    del play.keys[node]
    with pytest.raises(RoundError, match="not at all"):
        share(play.states[node], play.keys, 3)


def test_shares_go_sealed_to_everyone_else(shared):
    for node, letters in shared.letters.items():
        assert set(letters) == set(shared.nodes) - {node}
        own = shared.states[node].own
        assert not [text for text in letters.values() if own.of_seed in text or own.of_key in text]


@pytest.mark.parametrize("position", [0, 11, 12, 40, -1])
def test_a_changed_letter_is_refused(shared, position):
    me, other, *_ = shared.nodes
    delivered = relay(shared.roster, shared.letters)[me]
    text = bytearray(delivered[other])
    text[position] ^= 1
    with pytest.raises(RoundError, match=f"shares from node {other} to node {me} were changed"):
        mask(shared.states[me], shared.vectors[me], delivered | {other: bytes(text)})


def test_letters_that_changed_places_are_refused(shared):
    me, one, two, *_ = shared.nodes
    delivered = relay(shared.roster, shared.letters)[me]
    swapped = delivered | {one: delivered[two], two: delivered[one]}
    with pytest.raises(RoundError, match="were changed"):
        mask(shared.states[me], shared.vectors[me], swapped)


def test_a_letter_returned_to_its_sender_is_refused(shared):
    me, other, *_ = shared.nodes
    delivered = relay(shared.roster, shared.letters)[me]
    reflected = delivered | {other: shared.letters[me][other]}
    with pytest.raises(RoundError, match="were changed"):
        mask(shared.states[me], shared.vectors[me], reflected)


def test_a_letter_to_oneself_is_refused(shared):
    me, other, *_ = shared.nodes
    delivered = relay(shared.roster, shared.letters)[me]
    with pytest.raises(RoundError, match="in its own name"):
        mask(shared.states[me], shared.vectors[me], delivered | {me: delivered[other]})


@pytest.mark.parametrize("difference", ["threshold", "key", "context"])
def test_nodes_that_were_shown_different_rosters_do_not_understand_each_other(difference):
    play = Play(5, 3).advertise()
    me, other, third, *_ = play.nodes
    keys, threshold, state = dict(play.keys), 3, play.states[other]
    if difference == "threshold":
        threshold = 4
    if difference == "key":
        keys[third] = PrivateKeys.generate().public
    if difference == "context":
        state = replace(state, context=b"run 1, round 8")
    play.share()
    play.letters[other] = share(state, keys, threshold)[1]
    with pytest.raises(RoundError, match="different lists of nodes"):
        mask(play.states[me], play.vectors[me], relay(play.roster, play.letters)[me])


def test_with_fewer_letters_than_the_threshold_a_node_sends_nothing(shared):
    me, other, *_ = shared.nodes
    letters = {other: shared.letters[other][me]}
    with pytest.raises(RoundError, match="2 of 5 nodes, and 3 are required"):
        mask(shared.states[me], shared.vectors[me], letters)


@pytest.mark.parametrize(
    "vector", [np.zeros(4), np.zeros((2, 2), np.uint64), np.zeros(4, np.int64)]
)
def test_a_vector_that_is_not_encoded_is_refused(shared, vector):
    me = shared.nodes[0]
    with pytest.raises(RoundError, match="one dimension of uint64"):
        mask(shared.states[me], vector, relay(shared.roster, shared.letters)[me])


def test_a_masked_vector_alone_looks_uniform():
    """4,096 fair bits sum to 2,048 ± 32; six sigma fail by chance once in a million runs."""
    play = Play(3, 3, length=4096).advertise()
    play.vectors = {node: encode(np.full(4095, -1e-3, np.float32), 20) for node in play.nodes}
    for vector in play.share().mask().masked.values():
        bits = np.unpackbits(vector.astype("<u8").view(np.uint8), bitorder="little")
        ones = bits.reshape(4096, 64).sum(axis=0)
        assert np.all(np.abs(ones - 2048.0) < 6 * 32)
        # Bytes: chi-square of 256 cells, 255 ± 22.6.
        counts = np.bincount(vector.view(np.uint8), minlength=256)
        assert abs(np.sum((counts - 128.0) ** 2 / 128) - 255) < 6 * 22.6


def test_the_own_mask_is_fresh_even_under_the_same_keys():
    play = Play(5, 3).advertise()
    before, me = dict(play.states), play.nodes[0]
    first = play.share().mask().masked[me]
    play.states = before
    assert not np.any(first == play.share().mask().masked[me])


def test_the_masks_of_pairs_hide_a_vector_whose_own_mask_is_known(shared):
    me = shared.nodes[0]
    own = own_mask(shared.states[me].seed, shared.roster.digest, shared.length)
    assert not np.any(shared.mask().masked[me] - own == shared.vectors[me])


def test_the_same_vector_is_masked_differently_in_every_round():
    first, second = masked_round(), masked_round()
    for node in first.nodes:
        assert np.array_equal(first.vectors[node], second.vectors[node])
        assert not np.any(first.masked[node] == second.masked[node])


def test_for_survivors_the_seeds_share_is_revealed_and_for_the_others_the_keys(masked):
    me, gone, *_ = masked.nodes
    survivors = set(masked.nodes) - {gone}
    _, answer = unmask(masked.states[me], survivors)
    shares = masked.states[me].shares
    assert answer == {
        node: shares[node].of_key if node == gone else shares[node].of_seed for node in masked.nodes
    }


def test_a_second_unmasking_with_another_set_is_refused(masked):
    me, gone, *_ = masked.nodes
    state, _ = unmask(masked.states[me], masked.nodes)
    with pytest.raises(RoundError, match="one set of survivors a round"):
        unmask(from_record(to_record(state)), set(masked.nodes) - {gone})


def test_a_second_unmasking_with_the_same_set_says_the_same(masked):
    me = masked.nodes[0]
    state, answer = unmask(masked.states[me], masked.nodes)
    assert unmask(from_record(to_record(state)), masked.nodes[::-1]) == (state, answer)


def test_survivors_that_did_not_share_are_refused(masked):
    with pytest.raises(RoundError, match=r"these have not: \[77\]"):
        unmask(masked.states[masked.nodes[0]], {*masked.nodes, 77})


def test_a_sum_without_the_nodes_own_vector_is_refused(masked):
    me, *others = masked.nodes
    with pytest.raises(RoundError, match=f"node {me} is asked to unmask a sum without its own"):
        unmask(masked.states[me], others)


def test_a_sum_of_fewer_than_the_threshold_is_refused(masked):
    with pytest.raises(RoundError, match="a sum of 2 nodes is asked for, and 3 are required"):
        unmask(masked.states[masked.nodes[0]], masked.nodes[:2])


def test_no_step_is_done_twice_or_out_of_order():
    play = Play(3, 3).advertise()
    me = play.nodes[0]
    with pytest.raises(RoundError, match="starts from Shared, and the node stands at Advertised"):
        mask(play.states[me], play.vectors[me], {})
    play.share()
    with pytest.raises(RoundError, match="starts from Advertised, and the node stands at Shared"):
        share(play.states[me], play.keys, 3)
    with pytest.raises(RoundError, match="starts from Masked, and the node stands at Shared"):
        unmask(play.states[me], play.nodes)
    play.mask()
    with pytest.raises(RoundError, match="starts from Shared, and the node stands at Masked"):
        mask(play.states[me], play.vectors[me], relay(play.roster, play.letters)[me])


def test_no_step_changes_what_it_was_given(shared):
    me = shared.nodes[0]
    before, vector = to_record(shared.states[me]), shared.vectors[me].copy()
    mask(shared.states[me], shared.vectors[me], relay(shared.roster, shared.letters)[me])
    assert to_record(shared.states[me]) == before
    assert np.array_equal(shared.vectors[me], vector)
