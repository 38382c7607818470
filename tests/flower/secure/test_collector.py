import numpy as np
import pytest

from tests.flower.secure.playing import IDS, Play, masked_round
from veilmap.flower.secure.collector import relay
from veilmap.flower.secure.encoding import decode, encode
from veilmap.flower.secure.round_error import RoundError

FIRST, SECOND, THIRD, FOURTH, FIFTH = IDS[:5]


@pytest.mark.parametrize(("count", "threshold"), [(3, 3), (5, 3), (10, 6)])
def test_the_sum_of_the_masked_is_the_plain_sum(count, threshold):
    play = masked_round(count, threshold).unmask()
    assert play.reveal().tolist() == play.plain_sum()
    assert np.sum(list(play.masked.values()), axis=0, dtype=np.uint64).tolist() != play.plain_sum()


@pytest.mark.parametrize("after_advertise", [(), (FIRST,), (THIRD, FIFTH)])
@pytest.mark.parametrize("after_share", [(), (SECOND,), (FOURTH, FIRST)])
@pytest.mark.parametrize("after_mask", [(), (FIFTH,), (FIRST, SECOND)])
def test_the_sum_of_nodes_that_masked_comes_out_whichever_drops_out(
    after_advertise, after_share, after_mask
):
    """Of eleven nodes six must stay; up to two leave after each step, five at most in all."""
    play = Play(11, 6).advertise()
    play.share(without=after_advertise).mask(without=after_share).unmask(without=after_mask)
    assert play.reveal().tolist() == play.plain_sum()


def round_without(nodes, *, from_step):
    play = Play(5, 3).advertise()
    for step in ("share", "mask", "unmask"):
        getattr(play, step)(without=nodes if step == from_step else ())
    return play.reveal().tolist(), play.plain_sum()


@pytest.mark.parametrize("step", ["share", "mask", "unmask"])
def test_at_every_step_the_threshold_may_stay_and_no_fewer(step):
    revealed, plain = round_without(IDS[:2], from_step=step)
    assert revealed == plain
    with pytest.raises(RoundError, match=r"2 of 5 nodes, and 3 are required|a sum of 2 nodes"):
        round_without(IDS[:3], from_step=step)


def test_the_servers_mean_is_the_weighted_mean_of_the_updates():
    """(10·(−0.5) + 0·0 + 30·1.5) / 40 = 1."""
    play = Play(3, 3).advertise()
    updates = [(-0.5, 10), (0.0, 0), (1.5, 30)]
    play.vectors = {
        node: encode(np.full(6, value, np.float32), n)
        for node, (value, n) in zip(play.nodes, updates, strict=True)
    }
    mean, n = decode(play.share().mask().unmask().reveal())
    assert (mean.tolist(), n) == ([1.0] * 6, 40)


def test_letters_reach_only_nodes_that_shared():
    play = Play(5, 3).advertise().share(without=[FIRST])
    delivered = relay(play.roster, play.letters)
    others = set(play.nodes) - {FIRST}
    assert {node: set(letters) for node, letters in delivered.items()} == {
        node: others - {node} for node in others
    }


def test_a_sender_that_leaves_a_node_out_is_named():
    play = Play(5, 3).advertise().share()
    del play.letters[FIRST][SECOND]
    with pytest.raises(RoundError, match=f"node {FIRST} must send shares to every other node"):
        relay(play.roster, play.letters)


def test_wrong_shares_of_a_dropped_nodes_key_are_noticed():
    play = Play(5, 3).advertise().share().mask(without=[FIRST]).unmask()
    for answer in play.answers.values():
        answer[FIRST] = bytes(32)
    with pytest.raises(RoundError, match=f"do not give the key of node {FIRST}"):
        play.reveal()


def test_a_wrong_share_of_a_seed_is_noticed_in_the_count():
    """A random count passes for a true one with a chance of 2⁻¹⁷; the share is fixed, b is not."""
    play = Play(3, 3).advertise()
    play.vectors = {node: encode(np.zeros(3, np.float32), 1) for node in play.nodes}
    play.share().mask().unmask()
    play.answers[SECOND][FIRST] = bytes(16)
    with pytest.raises(RoundError, match="masks are left in it"):
        decode(play.reveal())


def test_shares_that_were_not_asked_for_are_refused():
    play = masked_round().unmask()
    play.answers[FIRST][SECOND] = bytes(32)
    with pytest.raises(RoundError, match=f"node {FIRST} sent other shares than asked for"):
        play.reveal()


def test_an_answer_of_a_node_that_did_not_mask_is_refused():
    play = Play(5, 3).advertise().share().mask(without=[FIRST]).unmask()
    play.answers[FIRST] = play.answers[SECOND]
    with pytest.raises(RoundError, match="answers must come from survivors"):
        play.reveal()


def test_vectors_of_different_lengths_are_refused():
    play = masked_round().unmask()
    play.masked[FIRST] = play.masked[FIRST][:-1]
    with pytest.raises(RoundError, match="differ in length"):
        play.reveal()
