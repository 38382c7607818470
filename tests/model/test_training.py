import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from veilmap.model import reference, training
from veilmap.model.dropout import Dropout
from veilmap.model.network import ACTIVATION_NAMES, Network
from veilmap.streams import stream

layer = st.tuples(st.integers(1, 9), st.sampled_from(ACTIVATION_NAMES), st.sampled_from([0.0, 0.2]))
networks = st.lists(layer, min_size=1, max_size=3).map(
    lambda layers: Network(*(tuple(column) for column in zip(*layers, strict=True)))
)


def batch(rows, seed=0):
    draw = np.random.default_rng(seed)
    return (
        draw.normal(0, 1.5, (rows, 2)).astype(np.float32),
        draw.normal(-5, 8, rows).astype(np.float32),
    )


@settings(max_examples=60, deadline=None)
@given(networks, st.integers(1, 30), st.integers(0, 100))
def test_the_fast_gradient_equals_automatic_differentiation(network, rows, seed):
    weights = network.initialise(seed)
    fast = training.gradient(network, weights, batch(rows, seed), stream(seed, "dropout"))
    slow = reference.gradient(network, weights, batch(rows, seed), stream(seed, "dropout"))
    np.testing.assert_allclose(fast, slow, rtol=1e-4, atol=1e-5 * np.abs(slow).max() + 1e-7)


@settings(max_examples=30, deadline=None)
@given(networks, st.integers(1, 30), st.integers(0, 100))
def test_fast_prediction_equals_the_reference(network, rows, seed):
    weights, (x, _) = network.initialise(seed), batch(rows, seed)
    masks = Dropout(network, None).draw(rows)
    slow = reference.forward(network, torch.from_numpy(weights), torch.from_numpy(x), masks)
    np.testing.assert_allclose(training.predict(network, weights, x), slow, rtol=1e-4, atol=1e-5)


def test_local_sgd_equals_the_usual_loop_with_module_and_optimiser():
    """nn.Module, autograd and torch.optim.SGD over the same mini-batches, without dropout."""
    network = Network(dropout=(0.0, 0.0))
    weights = network.initialise(3)
    module = torch.nn.Sequential(
        torch.nn.Linear(2, 224), torch.nn.ReLU(), torch.nn.Linear(224, 640), torch.nn.Sigmoid(),
        torch.nn.Linear(640, 1),
    )  # fmt: skip
    torch.nn.utils.vector_to_parameters(torch.from_numpy(weights.copy()), module.parameters())
    optimiser = torch.optim.SGD(module.parameters(), lr=1e-3)
    batches = [batch(20, seed) for seed in range(4)] + [batch(7, 9)]
    for _ in range(3):
        for x, y in batches:
            optimiser.zero_grad()
            residuals = module(torch.from_numpy(x))[:, 0] - torch.from_numpy(y)
            (residuals**2).mean().backward()
            optimiser.step()
    usual = torch.nn.utils.parameters_to_vector(module.parameters()).detach().numpy()
    ours = training.sgd(network, weights, batches, epochs=3, learning_rate=1e-3)
    np.testing.assert_allclose(ours, usual, rtol=1e-4, atol=1e-6)


def test_one_epoch_over_one_batch_is_one_gradient_step():
    network = Network()
    weights = network.initialise(0)
    stepped = training.sgd(
        network, weights, [batch(50)], epochs=1, learning_rate=0.01, dropout=stream(0, "d")
    )
    expected = weights - 0.01 * reference.gradient(network, weights, batch(50), stream(0, "d"))
    np.testing.assert_allclose(stepped, expected, atol=1e-6)


def test_a_batch_larger_than_a_block_is_still_one_step():
    network = Network(hidden=(8,), activations=("tanh",), dropout=(0.0,))
    weights, large = network.initialise(0), batch(2 * training.BLOCK_ROWS + 11)
    stepped = training.sgd(network, weights, [large], epochs=1, learning_rate=0.01)
    expected = weights - 0.01 * reference.gradient(network, weights, large)
    np.testing.assert_allclose(stepped, expected, atol=1e-5)


def test_training_leaves_its_arguments_alone():
    network = Network()
    weights = network.initialise(0)
    before = weights.copy()
    training.sgd(network, weights, [batch(20)], epochs=2, learning_rate=0.1)
    assert (weights == before).all()


def test_dropout_meets_its_share_and_keeps_the_expectation():
    """64,000 draws: the share 0.3 is met within five standard deviations (0.009)."""
    network = Network(hidden=(64, 32), activations=("relu", "relu"), dropout=(0.3, 0.0))
    first, second = Dropout(network, stream(0, "mask")).draw(1000)
    assert first is not None
    assert second is not None
    assert (first == 0).float().mean().item() == pytest.approx(0.3, abs=0.009)
    assert first.max().item() == pytest.approx(1 / 0.7, rel=1e-4)
    assert (second == 1).all()


def test_dropout_obeys_its_generator():
    network = Network()
    draws = [
        [
            mask.clone()
            for mask in Dropout(network, stream(seed, "mask")).draw(5)
            if mask is not None
        ]
        for seed in (0, 0, 1)
    ]
    assert all((a == b).all() for a, b in zip(draws[0], draws[1], strict=True))
    assert any((a != b).any() for a, b in zip(draws[0], draws[2], strict=True))
