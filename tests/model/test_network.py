import numpy as np
import pytest

from veilmap.errors import UserError
from veilmap.model.network import Network


def test_the_papers_network_has_145313_weights():
    assert Network().size == 145_313


def test_layers_are_views_that_cover_the_vector_once():
    network = Network(hidden=(3, 4), activations=("relu", "tanh"), dropout=(0, 0))
    weights = np.zeros(network.size, np.float32)
    for matrix, bias in network.layers(weights):
        matrix += 1
        bias += 1
    assert (weights == 1).all()
    assert [matrix.shape for matrix, _ in network.layers(weights)] == [(3, 2), (4, 3), (1, 4)]


def test_glorot_is_uniform_with_its_limit_and_zero_biases():
    network = Network()
    (first, bias), (second, _), _ = network.layers(network.initialise(0))
    assert (bias == 0).all()
    assert np.abs(first).max() <= np.sqrt(6 / 226)
    assert second.std() == pytest.approx(np.sqrt(2 / (224 + 640)), rel=0.01)


def test_pytorch_initialisation_has_its_limit_in_weights_and_biases():
    network = Network(initialisation="pytorch")
    _, (matrix, bias), _ = network.layers(network.initialise(0))
    limit = 1 / np.sqrt(224)
    for values in (matrix, bias):
        assert np.abs(values).max() <= limit
        assert values.std() == pytest.approx(limit / np.sqrt(3), rel=0.1)


def test_the_seed_decides_the_weights():
    network = Network()
    assert (network.initialise(1) == network.initialise(1)).all()
    assert (network.initialise(1) != network.initialise(2)).any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hidden": (10,)}, "one entry per hidden layer, got 1, 2 and 2"),
        ({"hidden": (), "activations": (), "dropout": ()}, "one entry per hidden layer"),
        ({"hidden": (0, 3)}, "width of a hidden layer must be from 1 to 10,000, got 0"),
        ({"activations": ("relu", "sigmod")}, "unknown activation 'sigmod'; choose one of: relu"),
        ({"dropout": (0.05, 1.0)}, "from 0 to 0.99, got 1.0"),
        ({"initialisation": "zeros"}, "unknown initialisation 'zeros'"),
    ],
)
def test_a_wrong_description_is_refused(change, message):
    with pytest.raises(UserError, match=message):
        Network(**change)
