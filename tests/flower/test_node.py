import numpy as np
import pytest

from tests.flower.making import DATA, DAY_S, ROUNDS, make_campaign, state_of
from veilmap.federation.map_family import WEIGHTS
from veilmap.flower.ledger import Ledger, entry_of
from veilmap.flower.minimum import Minimum
from veilmap.flower.node import Request, respond, steps_for
from veilmap.flower.own_data import own_rounds, the_user
from veilmap.flower.refusal import RefusalError

STATE = state_of()
BEFORE = STATE[WEIGHTS]
CAMPAIGN = make_campaign()
OWN = own_rounds(DATA, "u0", CAMPAIGN)
FREE = Minimum(defence=(), epochs=1, points=1)


SECRET = Ledger(2**100)
LATER_S = CAMPAIGN.start_s(100)


def answer(
    minimum=FREE, ledger=SECRET, t=1, campaign=CAMPAIGN, weights=BEFORE, own=OWN, now_s=LATER_S
):
    return respond(Request(campaign, t, {WEIGHTS: weights}), minimum, ledger, own, "u0", now_s)


def test_an_answer_is_entered_into_the_ledger():
    sent, ledger = answer()
    assert sent is not None
    assert sent.n == len(OWN[1])
    assert len(ledger.entries) == 1


def test_farthest_batch_is_applied_though_not_requested():
    sent, _ = answer(Minimum(defence=("farthest:eps_m=50,num=7",), points=8))
    assert sent is not None
    assert sent.n == 7


def test_a_round_with_too_few_points_is_kept_back():
    sent, ledger = answer(Minimum(points=len(OWN[1]) + 1))
    assert sent is None
    assert ledger.entries == ()


def test_a_round_without_measurements_has_nothing_to_send():
    quiet = make_campaign(rounds=50)
    assert answer(t=50, campaign=quiet) == (None, SECRET)


def test_a_request_that_comes_again_gets_the_same_answer():
    sent, ledger = answer(Minimum(defence=("dp:epsilon=1",), points=1))
    again, after = answer(Minimum(defence=("dp:epsilon=1",), points=1), ledger)
    assert sent is not None
    assert again is not None
    assert (sent.message[WEIGHTS] == again.message[WEIGHTS]).all()
    assert after == ledger


def test_other_weights_for_the_same_round_are_refused():
    _, ledger = answer()
    with pytest.raises(RefusalError, match="has already answered for these measurements"):
        answer(ledger=ledger, weights=BEFORE * 2)


def test_a_budget_ends_the_answers():
    minimum = Minimum(defence=("dp:true_epsilon=1,rounds=2",), points=1, epsilon=1.001)
    _, ledger = answer(minimum)
    _, ledger = answer(minimum, ledger, t=2)
    with pytest.raises(RefusalError, match=r"has used up its privacy budget: ε = 1\.001 in all"):
        answer(minimum, ledger, t=3)


def test_a_spent_budget_still_allows_what_was_said_already():
    minimum = Minimum(defence=("dp:true_epsilon=1,rounds=1",), points=1, epsilon=1.001)
    _, ledger = answer(minimum)
    sent, _ = answer(minimum, ledger)
    assert sent is not None


def test_all_objections_are_named_at_once():
    minimum = Minimum(interval="2d", secure_aggregation=True)
    with pytest.raises(RefusalError, match="shorter than 2d; answers only under secure"):
        steps_for(Request(CAMPAIGN, 1, STATE), minimum, SECRET, LATER_S)


def test_a_round_that_is_not_over_is_not_answered():
    """Else every minute's answer would show the newest points, by a difference."""
    with pytest.raises(RefusalError, match="answers when a round is over"):
        answer(now_s=CAMPAIGN.start_s(2) - 1)
    sent, _ = answer(now_s=CAMPAIGN.start_s(2))
    assert sent is not None


def test_measurements_that_come_late_are_not_answered_for_again():
    """The same request, other rows, the same noise: the difference would be the new rows."""
    half = {1: OWN[1].take(np.arange(len(OWN[1]) // 2))}
    _, ledger = answer(own=half)
    with pytest.raises(RefusalError, match="has already answered for these measurements"):
        answer(ledger=ledger)
    again, _ = answer(ledger=ledger, own=half)
    assert again is not None


def test_no_two_campaigns_have_noise_in_common():
    """A server that knew the noise of one would take it off the other."""
    noisy = Minimum(defence=("dp:epsilon=1",), points=1)
    updates = []
    for first_s in (CAMPAIGN.first_s, CAMPAIGN.first_s + DAY_S):
        campaign = make_campaign(first_s=first_s)
        sent, _ = answer(noisy, campaign=campaign, own=own_rounds(DATA, "u0", campaign))
        updates.append(sent.message[WEIGHTS] - BEFORE)
    noise = np.linalg.norm(updates[0])
    assert np.linalg.norm(updates[0] - updates[1]) > noise
    assert abs(np.corrcoef(*updates)[0, 1]) < 0.3


def test_the_servers_steps_do_not_cut_the_batch_to_a_point():
    everything = make_campaign(defence=("diverse:eps_m=1000000",))
    sent, _ = answer(Minimum(defence=("farthest:eps_m=50,num=7",), points=8), campaign=everything)
    assert sent is not None
    assert sent.n == 7
    assert answer(Minimum(defence=(), points=8), campaign=everything)[0] is None


def test_a_projection_in_which_metres_are_none_is_refused():
    for epsg in (4326, 3857, 32601):
        with pytest.raises(RefusalError, match="UTM zone of its own measurements"):
            own_rounds(DATA, "u0", make_campaign(epsg=epsg))
    assert own_rounds(DATA, "u0", make_campaign(epsg=DATA.projection.epsg + 1))


def test_a_refused_projection_does_not_show_who_measured_the_cell():
    """In a secure sum all others would send a masked zero."""
    with pytest.raises(RefusalError, match="UTM zone of its own measurements"):
        own_rounds(DATA, "u0", make_campaign(epsg=32601, cell="elsewhere"))


def test_an_update_that_overflows_says_nothing_and_under_noise_a_zero():
    """Weights can be made so that training overflows if the user was beyond some line."""
    huge = np.full_like(BEFORE, 1e30)
    with np.errstate(all="ignore"):
        assert answer(weights=huge)[0] is None
        sent, ledger = answer(Minimum(defence=("dp:epsilon=1",), points=1), weights=huge)
    assert sent is not None
    assert np.isfinite(sent.message[WEIGHTS]).all()
    assert len(ledger.entries) == 1


def test_in_a_sum_also_a_zero_is_entered():
    """Else a second request would tell who had nothing."""
    secure = make_campaign(secure_aggregation=True)
    sent, ledger = answer(Minimum(points=10**6), campaign=secure)
    assert sent is None
    with pytest.raises(RefusalError, match="has already answered for these measurements"):
        answer(Minimum(points=10**6), ledger, campaign=secure)


def test_a_budget_begins_before_the_first_answer_without_noise():
    _, ledger = answer()
    noisy = Minimum(defence=("dp:epsilon=1",), points=1, epsilon=100)
    with pytest.raises(RefusalError, match="has already sent an update without noise"):
        answer(noisy, ledger, t=2)


def test_rounds_of_odd_length_do_not_overlap():
    """4444.2 s has no exact number in binary: a round's end must be the next one's beginning."""
    campaign = make_campaign(interval_s=4444.2, rounds=3000)
    ledger = Ledger(0)
    for t in range(1, 60):
        entry = entry_of(campaign, t, STATE, (), None)
        assert list(ledger.objections(entry, again=True)) == []
        ledger = ledger.with_(entry)


def test_of_a_file_with_several_users_one_must_be_named(tmp_path):
    with pytest.raises(ValueError, match=r"3 users; set \[node\] user to one of: u0, u1, u2"):
        the_user(DATA, None, tmp_path)
    with pytest.raises(ValueError, match="measurements of 3 users, not of 'x'"):
        the_user(DATA, "x", tmp_path)
    assert the_user(DATA, "u1", tmp_path) == "u1"


def test_only_the_users_own_rows_are_trained_on():
    sizes = [len(own_rounds(DATA, user, CAMPAIGN)[2]) for user in DATA.users]
    assert sum(sizes) == sum(len(data) for data in ROUNDS[1].data.values())
    assert own_rounds(DATA, "u0", make_campaign(cell="elsewhere")) == {}
