import numpy as np
import pytest
import torch

from tests.model.making import batch, dropout
from veilmap.errors import UserError
from veilmap.model import stacked
from veilmap.model.device import torch_device
from veilmap.model.network import Network
from veilmap.model.stacked import Client, sgd_of_many
from veilmap.model.training import sgd

CPU = torch.device("cpu")
DEVICES = [CPU, *([torch.device("cuda")] if torch.cuda.is_available() else [])]
# Rows of each mini-batch, client by client: unlike in number and in size, in no order.
FEW_ROWS = [[20, 3], [20, 20, 20, 7], [1], [20], [20, 20, 20, 20], [5]]
ALL_ROWS = [[31], [2], [500], [1], [44]]
PAPER = Network()
NO_DROPOUT = Network(dropout=(0.0, 0.0))
THREE = Network((9, 6, 5), ("tanh", "elu", "relu"), (0.3, 0.0, 0.1))


def clients_of(network, sizes):
    return [
        Client([batch(n, seed=10 * k + i) for i, n in enumerate(own)], dropout(network, k))
        for k, own in enumerate(sizes)
    ]


def one_by_one(network, weights, sizes, **knobs):
    return [
        sgd(network, weights, each.mini_batches, dropout=each.dropout, **knobs)
        for each in clients_of(network, sizes)
    ]


@pytest.mark.parametrize("network", [PAPER, NO_DROPOUT, THREE], ids=["paper", "whole", "three"])
@pytest.mark.parametrize("sizes", [FEW_ROWS, ALL_ROWS], ids=["B=20", "B=inf"])
@pytest.mark.parametrize("most_bytes", [1, 2_000_000, stacked.MOST_BYTES])
@pytest.mark.parametrize("device", DEVICES)
def test_many_clients_at_once_train_as_each_would_alone(network, sizes, most_bytes, device):
    """In groups of one, of some and of all."""
    weights, knobs = network.initialise(0), {"epochs": 2, "learning_rate": 1e-3}
    together = sgd_of_many(
        network, weights, clients_of(network, sizes), device=device, most_bytes=most_bytes, **knobs
    )
    alone = one_by_one(network, weights, sizes, **knobs)
    np.testing.assert_allclose(list(together), alone, rtol=1e-4, atol=1e-5)


def test_updates_come_in_order_also_beyond_a_window(monkeypatch):
    monkeypatch.setattr(stacked, "WINDOW", 4)
    weights, knobs = THREE.initialise(0), {"epochs": 1, "learning_rate": 1e-2}
    together = sgd_of_many(THREE, weights, clients_of(THREE, FEW_ROWS), device=CPU, **knobs)
    alone = one_by_one(THREE, weights, FEW_ROWS, **knobs)
    np.testing.assert_allclose(list(together), alone, rtol=1e-4, atol=1e-5)


def test_no_clients_give_no_updates():
    weights = THREE.initialise(0)
    assert not list(sgd_of_many(THREE, weights, [], epochs=1, learning_rate=1, device=CPU))


def test_a_group_keeps_within_the_memory():
    clients = clients_of(PAPER, [[20]] * 10)
    own = stacked.client_bytes(PAPER, 1, 20)
    groups = list(stacked.groups(PAPER, clients, int(4.5 * own)))
    assert [len(group) for group in groups] == [4, 4, 2]


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert torch_device("cpu") == CPU
    with pytest.raises(UserError, match=r"needs a GPU that torch can use, and torch .* sees none"):
        torch_device("cuda")
    with pytest.raises(UserError, match="unknown device 'gpu'; choose one of: cpu, cuda"):
        torch_device("gpu")
