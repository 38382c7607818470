import pytest

from tests.flower.making import DATA, ROUNDS, SMALL, make_campaign
from veilmap.flower.ledger import Ledger
from veilmap.flower.minimum import Minimum
from veilmap.flower.node import RefusalError, Request, agree, respond
from veilmap.flower.own_data import own_rounds, the_user

WEIGHTS = SMALL.initialise(0)
CAMPAIGN = make_campaign()
OWN = own_rounds(DATA, "u0", CAMPAIGN)
FREE = Minimum(defence=(), epochs=1, points=1)


def answer(minimum=FREE, ledger=Ledger(0), t=1, campaign=CAMPAIGN, weights=WEIGHTS):
    return respond(Request(campaign, t, weights), minimum, ledger, OWN, "u0")


def test_an_answer_is_entered_into_the_ledger():
    sent, ledger = answer()
    assert sent is not None
    assert sent.n == len(OWN[1])
    assert len(ledger.entries) == 1


def test_farthest_batch_is_taken_though_nobody_asked():
    sent, _ = answer(Minimum(defence=("farthest:eps_m=50,num=7",), points=7))
    assert sent is not None
    assert sent.n == 7


def test_a_round_with_too_few_points_is_kept_back():
    sent, ledger = answer(Minimum(points=len(OWN[1]) + 1))
    assert sent is None
    assert ledger.entries == ()


def test_a_round_without_measurements_has_nothing_to_send():
    quiet = make_campaign(rounds=50)
    assert answer(t=50, campaign=quiet) == (None, Ledger(0))


def test_a_request_that_comes_again_gets_the_same_answer():
    sent, ledger = answer(Minimum(defence=("dp:epsilon=1",), points=1))
    again, after = answer(Minimum(defence=("dp:epsilon=1",), points=1), ledger)
    assert sent is not None
    assert again is not None
    assert (sent.weights == again.weights).all()
    assert after == ledger


def test_other_weights_for_the_same_round_are_refused():
    _, ledger = answer()
    with pytest.raises(RefusalError, match="has answered for these measurements before"):
        answer(ledger=ledger, weights=WEIGHTS * 2)


def test_a_budget_ends_the_answers():
    minimum = Minimum(defence=("dp:true_epsilon=1,rounds=2",), points=1, epsilon=1.001)
    _, ledger = answer(minimum)
    _, ledger = answer(minimum, ledger, t=2)
    with pytest.raises(RefusalError, match=r"has spent what it may: ε = 1\.001 in all"):
        answer(minimum, ledger, t=3)


def test_a_spent_budget_still_allows_what_was_said_already():
    minimum = Minimum(defence=("dp:true_epsilon=1,rounds=1",), points=1, epsilon=1.001)
    _, ledger = answer(minimum)
    sent, _ = answer(minimum, ledger)
    assert sent is not None


def test_all_objections_are_named_at_once():
    minimum = Minimum(interval="2d", secure_aggregation=True)
    with pytest.raises(RefusalError, match="shorter than 2d; answers only under secure"):
        agree(Request(CAMPAIGN, 1, WEIGHTS), minimum, Ledger(0))


def test_of_a_file_with_several_users_one_must_be_named(tmp_path):
    with pytest.raises(ValueError, match="3 users; say whose it is"):
        the_user(DATA, None, tmp_path)
    with pytest.raises(ValueError, match="user 'x' is not among them"):
        the_user(DATA, "x", tmp_path)
    assert the_user(DATA, "u1", tmp_path) == "u1"


def test_only_the_users_own_rows_are_trained_on():
    sizes = [len(own_rounds(DATA, user, CAMPAIGN)[2]) for user in DATA.users]
    assert sum(sizes) == sum(len(data) for data in ROUNDS[1].data.values())
    assert own_rounds(DATA, "u0", make_campaign(cell="elsewhere")) == {}
