from dataclasses import dataclass

import numpy as np
import pytest

from tests.shadows.making import NETWORK, Away, people, person, scene_of
from veilmap.defences.random_points import RandomPoints
from veilmap.federation.observation import Recorder
from veilmap.federation.server import federate
from veilmap.local_data import Round
from veilmap.shadows.answers import all_answers, answers, summed


@dataclass(frozen=True)
class Nothing:
    """Send nothing in odd rounds."""

    name = "nothing"

    def on_points(self, batch, turn):
        return (batch if turn.round % 2 == 0 else batch.take(np.arange(0))), {}


@dataclass(frozen=True)
class Counting:
    """Keep as many points as the phone has learned from."""

    learns_from = "past"
    name = "counting"

    def learn(self, people, turn):
        ((_, data),) = people.items()
        return RandomPoints(num=max(len(data) // 10, 1)), {}


def federated(scene, who, seed):
    """What a server sees of one phone in a real run."""
    seen = Recorder()
    rounds = [Round(t, 0.0, {who.user: data}) for t, data in who.rounds.items()]
    for _ in federate(scene.plan(seed, {}), rounds, (who.user,), seen):
        pass
    return seen.observations


@pytest.mark.parametrize("steps", [(), (RandomPoints(num=20),), (Away(),), (Counting(),)])
def test_a_shadow_sends_what_the_phone_of_a_run_sends_to_the_bit(steps):
    scene, who = scene_of(steps=steps), person(1)
    own_and_real = zip(
        answers(scene, scene.plan(5, {}), who), federated(scene, who, 5), strict=True
    )
    for own, real in own_and_real:
        assert (own.round, own.user, own.n) == (real.round, real.user, real.n)
        for name, values in real.message.items():
            assert np.array_equal(own.message[name], values)


def test_phones_train_from_the_states_that_the_server_had():
    """The second round starts from the second state, the third from the first again."""
    states = tuple({"weights": NETWORK.initialise(seed)} for seed in (0, 1))
    scene = scene_of(NETWORK, states=states, knows_density=False)
    own = answers(scene, scene.plan(5, {}), person(1, rounds=3))
    assert [each.weights_before.tolist() for each in own] == [
        states[place]["weights"].tolist() for place in (0, 1, 0)
    ]
    assert all((each.weights_after != each.weights_before).any() for each in own)


def test_streams_are_the_seeds_own():
    scene, who = scene_of(steps=(RandomPoints(num=5),)), person(1)
    one, same, other = (
        [each.message["visited"].tolist() for each in answers(scene, scene.plan(seed, {}), who)]
        for seed in (1, 1, 2)
    )
    assert one == same != other


def test_a_round_that_the_defence_leaves_empty_is_not_seen():
    scene = scene_of(steps=(Nothing(),))
    assert [each.round for each in answers(scene, scene.plan(0, {}), person(1))] == [2, 4]


def test_the_sum_of_all_shadows_counts_their_visits():
    scene = scene_of()
    every = list(all_answers(scene, people(3), 0, lambda count: None))
    total = summed(scene, every)
    assert [each.round for each in total] == [1, 2, 3, 4]
    visited = sum(own[0].message["visited"].astype(int) for own in every)
    assert np.array_equal(total[0].message["visited"], visited)


def test_with_cumulative_training_a_phone_trains_on_all_its_data_so_far():
    states = ({"weights": NETWORK.initialise(0)},)
    scene = scene_of(NETWORK, states=states, knows_density=False, cumulative=True)
    own = answers(scene, scene.plan(0, {}), person(1))
    sizes = [len(data) for data in person(1).rounds.values()]
    assert [each.n for each in own] == np.cumsum(sizes).tolist()
