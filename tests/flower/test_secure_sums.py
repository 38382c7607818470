"""Secure aggregation over messages: the same map, and a server that sees sums only."""

import numpy as np
import pytest
from flwr.app import Message, RecordDict
from flwr.clientapp import ClientApp

from tests.flower.making import (
    DATA,
    FREE,
    ROUNDS,
    SMALL,
    USERS,
    federated,
    five_nodes,
    largest_difference,
    make_campaign,
    make_grid,
    state_of,
)
from veilmap.attacks.secure_sum import SUM, secure_sum
from veilmap.defences.defence import Defence
from veilmap.federation.observation import Recorder
from veilmap.federation.server import federate
from veilmap.flower.client_app import app
from veilmap.flower.messages import ARRAYS, ask
from veilmap.flower.node import Request
from veilmap.flower.secure.encoding import encode
from veilmap.flower.server_app import carry_out
from veilmap.flower.strategy import Assignment
from veilmap.flower.sum_messages import ADVERTISE, MASK, MASKED, SHARE, UNMASK, rows_record
from veilmap.flower.sum_messages import STEPS as STEPS_OF_A_SUM
from veilmap.study.attack import attack
from veilmap.study.protection import Protection
from veilmap.transcript import Transcript

DIVERSE = ("diverse:eps_m=50",)
STEPS = (ADVERTISE, SHARE, MASK, UNMASK)


def engine(campaign):
    plan = campaign.plan(campaign.training, Defence(Protection(campaign.defence).steps), 0)
    recorder = Recorder()
    *_, last = federate(plan, ROUNDS, USERS, recorder)
    return last.weights, recorder.observations


def test_the_map_is_that_of_the_plain_federation(tmp_path):
    campaign = make_campaign(secure_aggregation=True, defence=DIVERSE)
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    weights, observed = engine(campaign)
    assert largest_difference(journal.weights, weights) < 1e-4
    seen = Transcript(tmp_path / "out" / "transcript")
    assert [(each.round, each.user, each.n) for each in seen] == [
        (each.round, SUM, each.n) for each in secure_sum(seen.header, observed)
    ]


def test_no_message_holds_an_update_or_its_size_in_the_clear(tmp_path):
    """Of what nodes send no word is that of their encoded update, and its bits are even."""
    campaign = make_campaign(secure_aggregation=True)
    grid = make_grid(tmp_path)
    replies = recorded(grid)
    federated(campaign, grid, tmp_path / "out")
    vectors = [r.content[ARRAYS][MASKED].numpy() for r in replies if ARRAYS in r.content]
    recorder = Recorder()
    list(federate(campaign.plan(campaign.training, Defence(), 0), ROUNDS, USERS, recorder))
    assert len(vectors) == len(recorder.observations) == len(USERS) * len(ROUNDS)
    assert all(not reply.content.metric_records for reply in replies)
    for seen in recorder.observations:
        plain = encode(seen.weights_after - seen.weights_before, seen.n)
        for vector in vectors:
            assert (vector == plain).sum() == 0
    # A plain update is small: bits 40 to 62 are its sign, all alike.
    for bit in range(40, 63):
        share = np.mean([(vector >> np.uint64(bit)) & np.uint64(1) for vector in vectors])
        assert abs(share - 0.5) < 0.05


def recorded(grid):
    replies = []
    deliver = grid.send_and_receive

    def send_and_receive(messages, *, timeout=None):
        found = deliver(messages, timeout=timeout)
        replies.extend(found)
        return found

    grid.send_and_receive = send_and_receive
    return replies


def test_a_node_refuses_to_give_a_single_update_in_a_campaign_of_sums(tmp_path):
    grid = make_grid(tmp_path)
    content = ask(Request(make_campaign(secure_aggregation=True), 1, state_of()))
    (reply,) = grid.send_and_receive([Message(content, dst_node_id=10, message_type="train")])
    assert "promises sums" in reply.content["config"]["why"]
    assert not (tmp_path / "u0" / "ledger.json").exists()


def test_a_node_without_measurements_takes_part_with_a_zero(tmp_path):
    """The last round has points of all; in one beyond the data the sum is of nothing."""
    campaign = make_campaign(secure_aggregation=True, rounds=ROUNDS[-1].number + 1)
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    last = journal.history[-1]
    assert last.users == ()
    assert last.left_out == {SUM: "nothing to send"}


class Falls:
    """The app of a node that is gone from some step on."""

    def __new__(cls, step):
        fallen = ClientApp()
        for action in STEPS_OF_A_SUM:
            gone = STEPS.index(f"train.{action}") >= STEPS.index(step)

            def handle(message, context, gone=gone):
                if gone:
                    raise KeyboardInterrupt
                return app(message, context)

            fallen.train(action)(handle)
        return fallen


@pytest.mark.parametrize("step", STEPS)
def test_with_three_nodes_no_node_may_drop_out_and_the_run_continues(tmp_path, step):
    """A sum of two is the other's update; so the round gives nothing."""
    campaign = make_campaign(secure_aggregation=True)
    journal = federated(campaign, make_grid(tmp_path, apps={11: Falls(step)}), tmp_path / "out")
    assert len(journal.history) == len(ROUNDS)
    assert {outcome.n for outcome in journal.history} == {0}
    assert all(outcome.left_out["u1"] == "no answer in time" for outcome in journal.history)
    assert largest_difference(journal.weights, SMALL.initialise(0)) == 0


def of_five(folder, campaign, apps, count=5):
    """The journal of a run with so many nodes."""
    assignment = Assignment(campaign.text, str(folder / "out"), nodes=count)
    return carry_out(assignment, five_nodes(folder, apps, count), str)


@pytest.mark.parametrize("step", STEPS)
def test_of_five_nodes_one_may_fall_out_at_any_step(tmp_path, step):
    """Fallen at the last step its vector is in the sum already, and the others free it."""
    secure = of_five(tmp_path / "a", make_campaign(secure_aggregation=True), {14: Falls(step)})
    plain = of_five(tmp_path / "b", make_campaign(), {}, count=5 if step == UNMASK else 4)
    assert {outcome.users for outcome in secure.history} == {(SUM,)}
    assert [one.n for one in secure.history] == [one.n for one in plain.history]
    assert largest_difference(secure.weights, plain.weights) < 1e-4


def test_a_node_that_demands_larger_sums_keeps_out(tmp_path):
    strict = FREE + "secure_aggregation = true\nnodes = 4\n"
    campaign = make_campaign(secure_aggregation=True)
    journal = federated(campaign, make_grid(tmp_path, minimum=strict), tmp_path / "out")
    assert journal.history[0].left_out["u0"] == "takes part in sums of at least 4 nodes"


def test_no_user_takes_part_twice_in_a_round(tmp_path):
    """Two sums over different nodes differ by somebody's update."""
    campaign = make_campaign(secure_aggregation=True)
    grid = make_grid(tmp_path)
    federated(campaign, grid, tmp_path / "out")
    again = federated(campaign, grid, tmp_path / "again")
    assert set(again.history[0].left_out) == {*USERS, SUM}
    assert again.history[0].left_out["u0"] == "has already answered for these measurements"


def test_a_server_cannot_ask_the_others_for_something_else(tmp_path):
    """Were they asked for a cell that they do not have, the sum would be one node's update."""
    campaign = make_campaign(secure_aggregation=True)
    elsewhere = ask(Request(make_campaign(secure_aggregation=True, cell="x"), 1, state_of()))
    grid = make_grid(tmp_path)
    deliver = grid.send_and_receive

    def send_and_receive(messages, *, timeout=None):
        for message in messages:
            if message.metadata.message_type == MASK and message.metadata.dst_node_id != 10:
                message.content.update(elsewhere)
        return deliver(messages, timeout=timeout)

    grid.send_and_receive = send_and_receive
    journal = federated(campaign, grid, tmp_path / "out")
    left_out = journal.history[0].left_out
    assert left_out["u1"] == "the request is not the one that this sum began with"
    assert journal.history[0].users == ()


def test_other_weights_for_some_are_noticed_in_the_first_step(tmp_path):
    """Keys are bound to the weights: who was sent others cannot open the others' shares."""
    campaign = make_campaign(secure_aggregation=True)
    other = ask(Request(campaign, 1, state_of(seed=1)))
    grid = make_grid(tmp_path)
    deliver = grid.send_and_receive

    def send_and_receive(messages, *, timeout=None):
        for message in messages:
            kind = message.metadata.message_type
            if kind in (ADVERTISE, MASK) and message.metadata.dst_node_id == 10:
                message.content.update(other)
        return deliver(messages, timeout=timeout)

    grid.send_and_receive = send_and_receive
    journal = federated(campaign, grid, tmp_path / "out")
    assert journal.history[0].users == ()


def test_a_share_of_the_wrong_length_does_not_end_the_round(tmp_path):
    """With five nodes four are enough to free the sum."""

    class Short:
        def __new__(cls):
            short = ClientApp()
            for action in STEPS_OF_A_SUM[:3]:
                short.train(action)(lambda message, context: app(message, context))
            short.train("unmask")(
                lambda message, context: Message(rows_record({1: b"x"}), reply_to=message)
            )
            return short

    journal = of_five(tmp_path, make_campaign(secure_aggregation=True), {14: Short()})
    assert {outcome.users for outcome in journal.history} == {(SUM,)}


def test_nonsense_in_any_step_leaves_its_sender_out(tmp_path):
    nonsense = ClientApp()
    for action in STEPS_OF_A_SUM:
        nonsense.train(action)(lambda message, context: Message(RecordDict(), reply_to=message))
    campaign = make_campaign(secure_aggregation=True)
    journal = federated(campaign, make_grid(tmp_path, apps={12: nonsense}), tmp_path / "out")
    assert "malformed reply" in journal.history[0].left_out["u2"]


def test_the_sum_can_be_attacked_as_any_user(tmp_path):
    campaign = make_campaign(secure_aggregation=True)
    federated(campaign, make_grid(tmp_path), tmp_path / "out")
    found = attack(tmp_path / "out", data=DATA, method="first_layer")
    assert found.target == SUM
    assert found.scores["first_layer"].distance_median_m is not None
