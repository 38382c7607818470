from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import make_local_data
from tests.defences.fakes import Average, First, Twice
from tests.federation.test_federation import USERS, make_plan, make_rounds
from veilmap.defences.geoind import GeoIndistinguishability
from veilmap.defences.memory import NEW
from veilmap.errors import UserError
from veilmap.federation.client import user_update
from veilmap.federation.map_family import WEIGHTS
from veilmap.federation.observation import Recorder
from veilmap.federation.phone import answer
from veilmap.federation.server import federate


def test_a_phone_trains_on_what_its_defence_left_and_says_how_many():
    plan, data = make_plan(defence=(First(7),)), make_local_data(20)
    weights = plan.network.initialise(0)
    sent = answer(plan, {WEIGHTS: weights}, data, "a", 1, NEW)
    assert sent.n == 7
    chosen = data.take(np.arange(7))
    np.testing.assert_array_equal(sent.message[WEIGHTS], user_update(plan, weights, chosen, "a", 1))


def test_a_step_on_the_update_changes_what_is_sent():
    plan, data = make_plan(defence=(Twice(),)), make_local_data(20)
    weights = plan.network.initialise(0)
    sent = answer(plan, {WEIGHTS: weights}, data, "a", 1, NEW)
    step = user_update(make_plan(), weights, data, "a", 1) - weights
    np.testing.assert_allclose(sent.message[WEIGHTS], weights + 2 * step, rtol=1e-6)


def test_a_phone_without_points_sends_nothing_and_the_weights_stay():
    plan, seen = make_plan(defence=(First(0),)), Recorder()
    results = list(federate(plan, make_rounds(2), USERS, seen))
    assert seen.observations == []
    assert [result.users for result in results] == [(), ()]
    np.testing.assert_array_equal(results[1].weights, plan.network.initialise(0))
    assert results[0].reports["a"][0].points == 0


def test_the_average_weighs_users_by_the_points_they_trained_on():
    plan, seen = make_plan(defence=(First(9),)), Recorder()
    (result,) = federate(plan, make_rounds(1), USERS, seen)
    assert result.n == (9, 9, 1)
    mean = np.average([each.weights_after for each in seen.observations], axis=0, weights=result.n)
    np.testing.assert_allclose(result.weights, mean, atol=1e-6)


def test_cumulative_training_refuses_steps_that_move_points():
    with pytest.raises(UserError, match="move the points of earlier rounds again and again"):
        make_plan(defence=(GeoIndistinguishability(0.01),), cumulative=True)
    make_plan(defence=(First(),), cumulative=True)


def test_noise_is_another_for_every_user_round_seed_and_cell():
    plan = make_plan()
    turns = [
        plan.turn("a", 1),
        plan.turn("b", 1),
        plan.turn("a", 2),
        make_plan(seed=1).turn("a", 1),
        replace(plan, cell="x").turn("a", 1),
    ]
    assert len({turn.stream("dp").normal() for turn in turns}) == len(turns)
    assert plan.turn("a", 1).stream("dp").normal() == turns[0].stream("dp").normal()


def test_a_phone_remembers_from_round_to_round_also_when_it_is_not_asked():
    """User a has 53 points a round: it learns from 53, then from the 106 of two rounds."""
    everybody, some = (
        [
            result.reports.get("a", (None,))[0]
            for result in federate(make_plan(defence=(Average(),), **knobs), make_rounds(4), USERS)
        ]
        for knobs in ({}, {"fraction": 0.34})
    )
    figures = [report.figures.get("learned_from") for report in everybody]
    assert figures == [53, None, 106, None]
    asked = [place for place, report in enumerate(some) if report]
    assert asked
    assert asked[0] > 0
    assert len(asked) < 4
    assert some[asked[0]].figures == everybody[asked[0]].figures


def test_a_round_tells_what_each_phone_trained_on():
    rounds = make_rounds(1)
    (result,) = federate(make_plan(defence=(First(3),)), rounds, USERS)
    assert tuple(map(len, result.batches.values())) == result.n
    for user, batch in result.batches.items():
        np.testing.assert_array_equal(batch.xy_m, rounds[0].data[user].xy_m[:3])
    (silent,) = federate(make_plan(defence=(First(0),)), rounds, USERS)
    assert silent.batches == {}
