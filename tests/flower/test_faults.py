"""Nodes that are broken, hostile, silent or stubborn; a server that is interrupted."""

import json
import math
import re
import time

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Error, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from tests.flower.making import (
    FREE,
    ROUNDS,
    SMALL,
    USERS,
    federated,
    largest_difference,
    make_campaign,
    make_grid,
    make_node,
    name_of,
    state_of,
)
from veilmap.defences.defence import Defence
from veilmap.errors import UserError
from veilmap.federation.evaluation import Evaluation
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.server import federate
from veilmap.flower import client_app
from veilmap.flower.journal import finished_rounds
from veilmap.flower.machines.private_files import held_privately
from veilmap.flower.messages import ARRAYS, METRICS, N, ask
from veilmap.flower.node import Request
from veilmap.flower.node_app import FAILED
from veilmap.flower.server_app import carry_out
from veilmap.flower.strategy import Assignment
from veilmap.local_data import Round
from veilmap.transcript import Transcript

SIZE = SMALL.size


def node_that_sends(content):
    app = ClientApp()

    @app.train()
    def train(message, context):
        return Message(content() if callable(content) else content, reply_to=message)

    return app


def answer(values, n=5):
    arrays = ArrayRecord({WEIGHTS: Array(values)})
    return RecordDict({ARRAYS: arrays, METRICS: MetricRecord({N: n})})


def npz():
    return Array(dtype="float32", shape=(SIZE,), stype="numpy.ndarray", data=b"PK\x03\x04junk")


ZERO = np.zeros(SIZE, np.float32)
HOSTILE = {
    "not finite": (answer(np.full(SIZE, np.nan, np.float32)), "not finite"),
    "infinite": (answer(np.full(SIZE, np.inf, np.float32)), "not finite"),
    "wrong shape": (answer(np.zeros(SIZE - 1, np.float32)), "weights of shape"),
    "another dimension": (answer(np.zeros((SIZE, 1), np.float32)), "weights of shape"),
    "another type": (answer(np.zeros(SIZE)), "not float32"),
    "huge": (answer(ZERO + np.float32(1e6)), "length"),
    "no points": (answer(ZERO, 0), "0 points"),
    "a billion points": (answer(ZERO, 10**9), "1,000,000,000 points"),
    "half a point": (answer(ZERO, 0.5), "0.5 points"),
    "nothing": (RecordDict(), "malformed reply"),
    "no array": (RecordDict({METRICS: MetricRecord({N: 5})}), "malformed reply"),
    "broken array": (
        RecordDict({ARRAYS: ArrayRecord({WEIGHTS: npz()}), METRICS: MetricRecord({N: 5})}),
        "malformed reply",
    ),
    "an error": (Error(code=0, reason="out of memory"), r"no answer \(out of memory\)"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_no_update_is_refused_and_the_run_continues_with_the_others(tmp_path, case):
    content, why = HOSTILE[case]
    grid = make_grid(tmp_path, apps={11: node_that_sends(content)})
    journal = federated(make_campaign(rounds=1), grid, tmp_path / "out")
    (outcome,) = journal.history
    assert outcome.users == ("u0", "u2")
    assert re.search(why, outcome.left_out["u1"])
    assert largest_difference(journal.weights, engine_without("u1", rounds=1)) < 1e-5
    # What is too long is an update all the same, which a curious server reads.
    seen = {entry.user for entry in Transcript(tmp_path / "out/transcript").entries()}
    assert ("u1" in seen) == (case == "huge")


def test_a_map_that_says_no_number_has_no_rmse_and_the_run_continues(tmp_path):
    """Finite weights whose sums are not."""
    far = answer(np.full(SIZE, 3e38, np.float32))
    grid = make_grid(tmp_path, apps=dict.fromkeys((10, 11, 12), node_that_sends(far)))
    campaign = make_campaign(rounds=2)
    assignment = Assignment(campaign.text, str(tmp_path / "out"), nodes=3, most_norm=math.inf)
    test = Evaluation(campaign.servers_plan, ROUNDS[0].data["u0"])
    journal = carry_out(assignment, grid, name_of, test)
    assert [outcome.rmse_db for outcome in journal.history] == [None, None]
    content = json.loads((tmp_path / "out/results.json").read_bytes())
    assert content["rows"][0]["rmse_db"] is None


def engine_without(user, rounds=len(ROUNDS)):
    rounds = [
        Round(r.number, r.start_s, {k: v for k, v in r.data.items() if k != user})
        for r in ROUNDS[:rounds]
    ]
    campaign = make_campaign()
    *_, last = federate(campaign.plan(campaign.training, Defence(), 0), rounds, USERS)
    return last.weights


def test_a_node_that_never_answers_is_left_out(tmp_path):
    def silence():
        raise KeyboardInterrupt

    grid = make_grid(tmp_path, apps={12: node_that_sends(silence)})
    journal = federated(make_campaign(), grid, tmp_path / "out")
    assert {outcome.left_out["u2"] for outcome in journal.history} == {"no answer in time"}
    assert largest_difference(journal.weights, engine_without("u2")) < 1e-5


def test_a_node_that_refuses_says_why_and_no_more(tmp_path):
    strict = FREE.replace("points = 1", 'points = 1\ninterval = "2d"')
    journal = federated(make_campaign(), make_grid(tmp_path, minimum=strict), tmp_path / "out")
    for outcome in journal.history:
        assert outcome.users == ()
        assert set(outcome.left_out.values()) == {"rounds of 86400 s are shorter than 2d"}
    assert largest_difference(journal.weights, SMALL.initialise(0)) == 0


def test_an_error_on_a_node_never_tells_the_server_of_its_data(tmp_path):
    """A UserError quotes rows and paths, and Flower would send its text."""
    path = make_node(tmp_path)
    (tmp_path / "all.parquet").write_text("lat,lon\n51.5,-0.12\n")
    grid = make_grid(tmp_path)
    assert path.exists()
    journal = federated(make_campaign(), grid, tmp_path / "out")
    for outcome in journal.history:
        assert set(outcome.left_out.values()) == {FAILED}


@pytest.mark.parametrize("fault", [OSError("secret"), MemoryError(), ZeroDivisionError("secret")])
def test_no_kind_of_error_does(tmp_path, monkeypatch, fault):
    def read(*_):
        raise fault

    monkeypatch.setattr(client_app, "read", read)
    journal = federated(make_campaign(), make_grid(tmp_path), tmp_path / "out")
    assert set(journal.history[0].left_out.values()) == {FAILED}


def test_what_is_sent_holds_the_update_and_its_size_and_nothing_else(tmp_path):
    grid = make_grid(tmp_path)
    request = ask(Request(make_campaign(), 1, state_of()))
    message = Message(request, dst_node_id=10, message_type="train")
    (reply,) = grid.send_and_receive([message])
    assert set(reply.content) == {ARRAYS, METRICS}
    assert set(reply.content[ARRAYS]) == {WEIGHTS}
    assert set(reply.content[METRICS]) == {N}


def test_a_node_that_is_renamed_during_a_round_does_not_end_the_run(tmp_path):
    names = iter(f"name {count}" for count in range(1000))
    assignment = Assignment(make_campaign().text, str(tmp_path / "out"), nodes=len(USERS))
    journal = carry_out(assignment, make_grid(tmp_path), lambda node: next(names))
    assert all(not outcome.left_out for outcome in journal.history)


def test_two_runs_do_not_share_a_folder(tmp_path):
    with (
        held_privately(tmp_path / "out", "test"),
        pytest.raises(UserError, match="in use by another run"),
    ):
        federated(make_campaign(), make_grid(tmp_path), tmp_path / "out")


def test_a_server_waits_until_a_round_is_over(tmp_path, monkeypatch):
    campaign = make_campaign()
    clock = [campaign.start_s(1)]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: clock.append(clock.pop() + 3600))
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    assert all(len(outcome.users) == 3 for outcome in journal.history)
    assert clock[0] >= campaign.start_s(campaign.rounds + 1)


class ServerDiedError(Exception):
    pass


class EndsAfter:
    """A grid whose server dies after some exchanges."""

    def __init__(self, grid, exchanges):
        self._grid, self._left = grid, exchanges

    def get_node_ids(self):
        return self._grid.get_node_ids()

    def send_and_receive(self, messages, *, timeout=None):
        if messages:
            if not self._left:
                raise ServerDiedError
            self._left -= 1
        return self._grid.send_and_receive(messages, timeout=timeout)


@pytest.mark.parametrize("exchanges", [0, 1, 2])
def test_an_interrupted_run_resumes_and_loses_no_finished_round(tmp_path, exchanges):
    campaign, grid = make_campaign(), make_grid(tmp_path / "nodes")
    with pytest.raises(ServerDiedError):
        federated(campaign, EndsAfter(grid, exchanges), tmp_path / "out")
    assert finished_rounds(tmp_path / "out") == exchanges
    asked = len(grid.sent)
    resumed = federated(campaign, grid, tmp_path / "out")
    assert len(grid.sent) - asked == len(USERS) * (len(ROUNDS) - exchanges)
    whole = federated(campaign, make_grid(tmp_path / "other"), tmp_path / "whole")
    assert largest_difference(resumed.weights, whole.weights) == 0
    assert [o.round for o in resumed.history] == [o.round for o in whole.history]
    for one, other in zip(
        Transcript(tmp_path / "out/transcript"),
        Transcript(tmp_path / "whole/transcript"),
        strict=True,
    ):
        assert (one.round, one.user, one.n) == (other.round, other.user, other.n)
        assert largest_difference(one.weights_after, other.weights_after) == 0


def test_a_round_that_was_not_checkpointed_is_asked_for_again_and_answered_alike(
    tmp_path, monkeypatch
):
    """The server dies between the nodes' answers and its checkpoint."""
    campaign, grid = make_campaign(), make_grid(tmp_path / "nodes")

    def full(*_):
        raise ServerDiedError

    with monkeypatch.context() as patch:
        patch.setattr("veilmap.flower.journal.write_whole", full)
        with pytest.raises(ServerDiedError):
            federated(campaign, grid, tmp_path / "out")
    resumed = federated(campaign, grid, tmp_path / "out")
    whole = federated(campaign, make_grid(tmp_path / "other"), tmp_path / "whole")
    assert all(not outcome.left_out for outcome in resumed.history)
    assert largest_difference(resumed.weights, whole.weights) == 0


def test_another_campaign_does_not_resume_the_rounds_of_this_one(tmp_path):
    with pytest.raises(ServerDiedError):
        federated(make_campaign(), EndsAfter(make_grid(tmp_path), 1), tmp_path / "out")
    with pytest.raises(UserError, match="unfinished run of another campaign"):
        federated(make_campaign(seed=1), make_grid(tmp_path), tmp_path / "out")


def test_a_finished_run_is_not_replaced(tmp_path):
    federated(make_campaign(), make_grid(tmp_path), tmp_path / "out")
    with pytest.raises(UserError, match="holds a finished run"):
        federated(make_campaign(), make_grid(tmp_path), tmp_path / "out")


def test_the_run_says_what_the_server_saw(tmp_path):
    federated(make_campaign(), make_grid(tmp_path), tmp_path / "out")
    content = json.loads((tmp_path / "out" / "results.json").read_bytes())
    assert any("each node's update" in sentence for sentence in content["server_sees"])
    assert [row["users"] for row in content["history"]] == [list(USERS)] * len(ROUNDS)
