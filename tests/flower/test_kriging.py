"""The kriging map through messages is that of one process."""

import numpy as np
import pytest
from flwr.app import Message
from safetensors import safe_open
from safetensors.numpy import save

from tests.flower.kriging_making import DIVERSE, KINDS, engine, make, same, same_messages
from tests.flower.making import (
    DATA,
    ROUNDS,
    USERS,
    federated,
    make_grid,
    name_of,
)
from tests.flower.test_faults import EndsAfter, ServerDiedError
from veilmap.errors import UserError
from veilmap.federation.evaluation import Evaluation
from veilmap.flower.journal import CHECKPOINT
from veilmap.flower.messages import ARRAYS, ask
from veilmap.flower.node import Request
from veilmap.flower.server_app import carry_out
from veilmap.flower.strategy import Assignment
from veilmap.signal_map.signal_map import SignalMap
from veilmap.transcript import Transcript


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("defence", [(), DIVERSE])
def test_the_map_is_that_of_one_process_and_so_is_what_the_server_sees(tmp_path, kind, defence):
    campaign = make(kind, defence=defence)
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    state, observed = engine(campaign)
    assert same(journal.state, state)
    assert state["visits"].sum() > 0
    seen = list(Transcript(tmp_path / "out" / "transcript"))
    assert len(seen) == len(observed) == len(USERS) * len(ROUNDS)
    assert all(same_messages(*both) for both in zip(seen, observed, strict=True))


def test_a_saved_map_predicts_as_that_of_one_process(tmp_path):
    campaign = make()
    federated(campaign, make_grid(tmp_path), tmp_path / "out")
    there = SignalMap.load(tmp_path / "out" / "model.safetensors")
    here = SignalMap(campaign.map_facts, engine(campaign)[0])
    one, other = (each.predict(DATA.xy_m[:50]) for each in (there, here))
    assert (one.rsrp_dbm == other.rsrp_dbm).all()
    assert (one.std_db == other.std_db).all()
    assert (one.visits == other.visits).all()


def test_the_servers_own_measurements_give_its_rmse(tmp_path):
    campaign = make()
    test = Evaluation(campaign.servers_plan, ROUNDS[0].data["u0"])
    assignment = Assignment(campaign.text, str(tmp_path / "out"), nodes=3)
    journal = carry_out(assignment, make_grid(tmp_path), name_of, test)
    assert journal.history[-1].rmse_db == test.rmse_db(engine(campaign)[0])
    assert [outcome.n for outcome in journal.history] == [
        sum(each.n for each in engine(campaign)[1] if each.round == t)
        for t in range(1, len(ROUNDS) + 1)
    ]


def test_the_server_does_not_ship_its_sums(tmp_path):
    grid = make_grid(tmp_path)
    federated(make(), grid, tmp_path / "out")
    assert grid.sent
    assert all(not message.content[ARRAYS] for message in grid.sent)


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2]])
def test_a_node_sends_its_squares_and_no_number_of_points(tmp_path, kind):
    (reply,) = asked(make_grid(tmp_path), make(kind))
    names = {"visited", "signal_db"} if kind.layout == "dense" else {"squares", "signal_db"}
    assert set(reply.content) == {ARRAYS}
    assert set(reply.content[ARRAYS]) == names


def asked(grid, campaign, node=10, kind="train", t=1):
    content = ask(Request(campaign, t, {}))
    return grid.send_and_receive([Message(content, dst_node_id=node, message_type=kind)])


@pytest.mark.parametrize("exchanges", [0, 1, 2])
def test_an_interrupted_run_resumes_with_its_sums(tmp_path, exchanges):
    campaign, grid = make(KINDS[1]), make_grid(tmp_path / "nodes")
    with pytest.raises(ServerDiedError):
        federated(campaign, EndsAfter(grid, exchanges), tmp_path / "out")
    resumed = federated(campaign, grid, tmp_path / "out")
    assert same(resumed.state, engine(campaign)[0])
    assert [outcome.round for outcome in resumed.history] == [this.number for this in ROUNDS]


def test_a_checkpoint_of_another_map_is_not_resumed(tmp_path):
    with pytest.raises(ServerDiedError):
        federated(make(), EndsAfter(make_grid(tmp_path), 1), tmp_path / "out")
    path = tmp_path / "out" / CHECKPOINT
    with safe_open(path, framework="numpy") as file:
        facts = file.metadata()
    path.write_bytes(save({"visits": np.zeros((8, 3), np.int64)}, facts))
    with pytest.raises(UserError, match=r"is not a checkpoint: it holds arrays .*; remove it"):
        federated(make(), make_grid(tmp_path), tmp_path / "out")
