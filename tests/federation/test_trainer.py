import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.federation.test_federation import NO_DROPOUT, SMALL, USERS, make_plan, make_rounds
from tests.maps.making import Still
from veilmap.defences.dp import DifferentialPrivacy
from veilmap.errors import UserError
from veilmap.federation.client import user_update
from veilmap.federation.observation import Recorder
from veilmap.federation.server import federate
from veilmap.federation.trainer import IN_FLIGHT, OnDevice, OnThreads
from veilmap.maps import network_map


def trained(plan, how):
    seen = Recorder()
    *_, last = federate(plan, make_rounds(), USERS, seen, how)
    return last.weights, [(each.user, each.round) for each in seen.observations]


@pytest.mark.parametrize("network", [SMALL, NO_DROPOUT])
def test_the_bits_do_not_depend_on_the_number_of_threads(network):
    plan = make_plan(network)
    alone, order = trained(plan, OnThreads(1))
    for threads in (2, 5):
        weights, own_order = trained(plan, OnThreads(threads))
        assert (weights == alone).all()
        assert own_order == order


@pytest.mark.parametrize("knobs", [{}, {"batch_size": "inf", "epochs": 1}, {"fraction": 0.67}])
def test_a_device_trains_as_threads_do(knobs):
    plan = make_plan(learning_rate=0.01, **knobs)
    weights, order = trained(plan, OnDevice(torch.device("cpu")))
    alone, own_order = trained(plan, OnThreads(1))
    np.testing.assert_allclose(weights, alone, rtol=1e-4, atol=1e-5)
    assert order == own_order


def test_few_phones_are_trained_ahead(monkeypatch):
    """Twenty users, two threads: nine are begun at most when the first is taken."""
    begun = []

    def update(*job):
        begun.append(threading.get_ident())
        return user_update(*job)

    monkeypatch.setattr(network_map, "user_update", update)
    plan, batches = make_plan(), [(str(i), make_rounds(1)[0].data["c"]) for i in range(20)]
    updates = OnThreads(2).messages(plan, plan.map.start(plan), batches, 1)
    next(updates)
    assert len(begun) <= 2 * IN_FLIGHT + 1
    assert threading.get_ident() not in begun
    updates.close()
    assert len(begun) < 20


def test_one_phone_after_the_other_where_the_cost_of_a_step_is_measured(monkeypatch):
    def update(*job):
        assert threading.current_thread() is threading.main_thread()
        return user_update(*job)

    monkeypatch.setattr(network_map, "user_update", update)
    trained(make_plan(defence=(DifferentialPrivacy(epsilon=10.0),)), OnThreads(2))


def test_a_map_that_builds_on_the_papers_answers_for_itself():
    plan = replace(make_plan(), map=Still.of(SMALL))
    weights, _ = trained(plan, OnThreads(2))
    assert (weights == plan.map.start(plan)["weights"]).all()
    with pytest.raises(
        UserError, match="a GPU trains the paper's network alone, got the map still"
    ):
        trained(plan, OnDevice(torch.device("cpu")))
