"""Same seed and full participation give the weights of the engine in one process."""

import pytest

from tests.flower.making import (
    ROUNDS,
    USERS,
    federated,
    largest_difference,
    make_campaign,
    make_grid,
)
from veilmap.defences.defence import Defence
from veilmap.federation.observation import Recorder
from veilmap.federation.plan import Training
from veilmap.federation.server import federate
from veilmap.rounds import cumulative
from veilmap.study.protection import Protection
from veilmap.transcript import Transcript


@pytest.mark.parametrize(
    "defence",
    [
        (),
        ("diverse:eps_m=50",),
        ("farthest:eps_m=50,num=5", "dp:epsilon=1000"),
        ("geoind:epsilon=0.02",),
        ("gan:learns_from=past,max_steps=20",),
    ],
)
def test_the_weights_are_those_of_the_engine_in_one_process(tmp_path, defence):
    campaign = make_campaign(defence=defence)
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    plan = campaign.plan(campaign.training, Defence(Protection(defence).steps), campaign.seed)
    recorder = Recorder()
    *_, last = federate(plan, ROUNDS, USERS, recorder)
    assert len(journal.history) == len(ROUNDS) >= 3
    assert largest_difference(journal.weights, last.weights) < 1e-5
    seen = list(Transcript(tmp_path / "out" / "transcript"))
    assert len(seen) == len(recorder.observations)
    for there, here in zip(seen, recorder.observations, strict=True):
        assert (there.round, there.user, there.n) == (here.round, here.user, here.n)
        assert there.start_s == here.start_s
        assert largest_difference(there.weights_after, here.weights_after) < 1e-5


@pytest.mark.parametrize(
    "knobs", [{"cumulative": True}, {"aggregation": "median"}, {"aggregation": "trimmed"}]
)
def test_other_kinds_of_training_are_the_same_too(tmp_path, knobs):
    campaign = make_campaign(training=Training(learning_rate=0.01, **knobs))
    journal = federated(campaign, make_grid(tmp_path), tmp_path / "out")
    plan = campaign.plan(campaign.training, Defence(), campaign.seed)
    rounds = cumulative(ROUNDS) if campaign.training.cumulative else ROUNDS
    *_, last = federate(plan, rounds, USERS)
    assert largest_difference(journal.weights, last.weights) < 1e-5


def test_another_seed_on_the_nodes_gives_other_weights(tmp_path):
    """So that the parity above is not one of runs that ignore the seed."""
    campaign = make_campaign()
    one = federated(campaign, make_grid(tmp_path / "a", seed=0), tmp_path / "one")
    other = federated(campaign, make_grid(tmp_path / "b", seed=1), tmp_path / "other")
    assert largest_difference(one.weights, other.weights) > 1e-4
