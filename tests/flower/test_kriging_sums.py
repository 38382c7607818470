"""The kriging map by secure sums: that of one process, whoever visited no square."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.flower.grids import LoopGrid
from tests.flower.kriging_making import (
    DIVERSE,
    KINDS,
    SQUARES,
    engine,
    make,
    same,
    same_messages,
)
from tests.flower.making import (
    DATA,
    ROUNDS,
    USERS,
    federated,
    make_grid,
    make_node,
)
from veilmap.attacks.secure_sum import SUM, secure_sum
from veilmap.defences.defence import Defence
from veilmap.federation.server import federate
from veilmap.flower import sum_node
from veilmap.flower.client_app import NODE_FILE, app
from veilmap.flower.messages import ARRAYS
from veilmap.flower.sum_messages import MASKED
from veilmap.study.attack import attack
from veilmap.transcript import Transcript


@pytest.mark.parametrize("kind", KINDS)
def test_the_map_of_secure_sums_is_that_of_one_process(tmp_path, kind):
    campaign = make(kind, defence=DIVERSE, secure_aggregation=True)
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    state, observed = engine(campaign)
    assert same(journal.state, state)
    seen = Transcript(tmp_path / "out" / "transcript")
    sums = secure_sum(seen.header, observed)
    assert all(same_messages(*both) for both in zip(seen, sums, strict=True))
    assert {each.user for each in seen} == {SUM}


def with_one_far_away(folder):
    """Three nodes, of which u0 measured 20 km from the area, and so visited no square of it."""
    (folder / "10").mkdir(parents=True)
    far = replace(DATA, table=DATA.table.with_columns(pl.col("lat_deg") + 0.2))
    far.write_parquet(folder / "10" / "all.parquet")
    configs = {
        node: {NODE_FILE: str(make_node(folder / str(node), user))}
        for node, user in zip((10, 11, 12), USERS, strict=True)
    }
    return LoopGrid(dict.fromkeys(configs, app), configs)


def vectors_of(grid, campaign, out):
    """The masked vectors by node and round, in the order in which they came."""
    vectors, deliver = {}, grid.send_and_receive

    def send_and_receive(messages, *, timeout=None):
        found = deliver(messages, timeout=timeout)
        for reply in found:
            assert not reply.content.metric_records
            if ARRAYS in reply.content:
                node = reply.metadata.src_node_id
                vectors.setdefault(node, []).append(reply.content[ARRAYS][MASKED].numpy())
        return found

    grid.send_and_receive = send_and_receive
    return federated(campaign, grid, out), vectors


def test_a_node_of_zero_squares_sends_an_ordinary_message_of_zeros(tmp_path):
    journal = federated(make(), with_one_far_away(tmp_path), tmp_path / "out")
    assert {outcome.users for outcome in journal.history} == {USERS}
    assert same(journal.state, engine(make(), without=("u0",))[0])
    assert all(not each.message["visited"].any() and each.n == 0
               for each in Transcript(tmp_path / "out/transcript").of_user("u0"))  # fmt: skip


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[3]])
def test_in_a_secure_sum_a_node_of_zero_squares_looks_like_any_other(tmp_path, kind):
    campaign = make(kind, secure_aggregation=True)
    journal, vectors = vectors_of(with_one_far_away(tmp_path), campaign, tmp_path / "out")
    assert same(journal.state, engine(make(kind), without=("u0",))[0])
    assert {outcome.users for outcome in journal.history} == {(SUM,)}
    assert not any(outcome.left_out for outcome in journal.history)
    assert [len(each) for each in vectors.values()] == [len(ROUNDS)] * 3
    for vector in (each for of_node in vectors.values() for each in of_node):
        assert vector.shape == (2 * SQUARES,)
        assert vector.dtype == np.uint64
        assert np.count_nonzero(vector) == vector.size
    far = np.concatenate(vectors[10])
    ones = [((far >> np.uint64(bit)) & np.uint64(1)).mean() for bit in range(64)]
    # 240 words: of 64 bits none is off by 5 standard deviations.
    assert max(abs(share - 0.5) for share in ones) < 5 * 0.5 / far.size**0.5


def test_a_node_without_measurements_looks_like_any_other_too(tmp_path):
    """In a round beyond the data of all, the sum is of nothing."""
    campaign = make(secure_aggregation=True, rounds=len(ROUNDS) + 1)
    journal, vectors = vectors_of(make_grid(tmp_path), campaign, tmp_path / "out")
    assert {len(each) for each in vectors.values()} == {len(ROUNDS) + 1}
    assert journal.history[-1].users == ()
    assert journal.history[-1].left_out == {SUM: "nothing to send"}
    assert same(journal.state, engine(make())[0])


@pytest.mark.parametrize("where", ["visits", "signal"])
@pytest.mark.parametrize("value", [1, 4 * 2**24, 2**40, 2**63, 2**64 - 4 * 2**24])
def test_garbage_in_a_secure_sum_costs_its_round_and_no_other(tmp_path, monkeypatch, where, value):
    """Nobody sees who sent it; that the sum cannot be one shows."""
    campaign, mask, done = make(secure_aggregation=True), sum_node.mask, []

    def spoilt(before, vector, sealed):
        if before.me == 11 and not done:
            done.append(True)
            # The vector has the signals first, in the order of the arrays' names.
            place = 0 if where == "signal" else SQUARES
            vector = vector.copy()
            vector[place] += np.uint64(value)
        return mask(before, vector, sealed)

    monkeypatch.setattr(sum_node, "mask", spoilt)
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    one, *others = journal.history
    assert one.users == ()
    assert set(one.left_out) == {SUM}
    assert one.left_out[SUM].startswith("the sum is implausible (")
    assert all(outcome.users == (SUM,) for outcome in others)
    plan = campaign.plan(campaign.training, Defence(), 0)
    *_, last = federate(plan, ROUNDS[1:], USERS)
    assert same(journal.state, last.state)


def test_a_secure_transcript_is_read_by_the_attack_on_squares(tmp_path):
    campaign = make(secure_aggregation=True)
    federated(campaign, make_grid(tmp_path), tmp_path / "out")
    found = attack(tmp_path / "out", data=DATA, method="squares")
    assert found.target == SUM
    assert found.scores["squares"].distance_median_m < 300
    state, _ = engine(campaign)
    assert sum(len(each.cloud.weights) for each in found.every["squares"]) == np.count_nonzero(
        state["visits"]
    )
