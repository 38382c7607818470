import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.making import batch, dropout
from veilmap.model import reference, training
from veilmap.model.network import ACTIVATION_NAMES, Network
from veilmap.model.prediction import predict
from veilmap.streams import stream

layer = st.tuples(st.integers(1, 9), st.sampled_from(ACTIVATION_NAMES), st.sampled_from([0.0, 0.2]))
networks = st.lists(layer, min_size=1, max_size=3).map(
    lambda layers: Network(*(tuple(column) for column in zip(*layers, strict=True)))
)


@settings(max_examples=60)
@given(networks, st.integers(1, 30), st.integers(0, 100))
def test_the_fast_gradient_equals_automatic_differentiation(network, rows, seed):
    weights = network.initialise(seed)
    fast = training.gradient(network, weights, batch(rows, seed), dropout(network, seed))
    slow = reference.gradient(network, weights, batch(rows, seed), dropout(network, seed))
    np.testing.assert_allclose(fast, slow, rtol=1e-4, atol=1e-5 * np.abs(slow).max() + 1e-7)


@settings(max_examples=30)
@given(networks, st.integers(1, 30), st.integers(0, 100))
def test_fast_prediction_equals_the_reference(network, rows, seed):
    weights, (x, _) = network.initialise(seed), batch(rows, seed)
    nothing = [None] * len(network.hidden)
    slow = reference.forward(network, torch.from_numpy(weights), torch.from_numpy(x), nothing)
    np.testing.assert_allclose(predict(network, weights, x), slow, rtol=1e-4, atol=1e-5)


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
        network, weights, [batch(50)], epochs=1, learning_rate=0.01, dropout=dropout(network)
    )
    expected = weights - 0.01 * reference.gradient(network, weights, batch(50), dropout(network))
    np.testing.assert_allclose(stepped, expected, atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_batch_larger_than_a_block_is_still_one_step(share):
    network = Network(hidden=(8, 5), activations=("tanh", "elu"), dropout=(share, share))
    weights, large = network.initialise(0), batch(2 * training.BLOCK_ROWS + 11)
    stepped = training.sgd(
        network, weights, [large], epochs=1, learning_rate=0.01, dropout=dropout(network)
    )
    expected = weights - 0.01 * reference.gradient(network, weights, large, dropout(network))
    np.testing.assert_allclose(stepped, expected, atol=1e-5)


def test_training_leaves_its_arguments_alone():
    network = Network()
    weights = network.initialise(0)
    before = weights.copy()
    training.sgd(network, weights, [batch(20)], epochs=2, learning_rate=0.1)
    assert (weights == before).all()


@pytest.mark.parametrize("share", [1e-20, 0.001, 0.05, 0.3, 0.9])
def test_dropout_meets_its_share_and_is_spread_evenly(share):
    """300,000 units: share and position of the dropped ones within five standard deviations."""
    network = Network(hidden=(300, 7), activations=("relu", "relu"), dropout=(share, 0.0))
    units, none = dropout(network).draw(1000)
    assert none is None
    assert units is not None
    dropped, total = units.numpy(), 300_000
    if share == 1e-20:
        assert len(dropped) == 0
        return
    assert (np.diff(dropped) > 0).all()
    assert dropped[-1] < total
    assert len(dropped) / total == pytest.approx(share, abs=5 * np.sqrt(share / total))
    middle = 5 * total / np.sqrt(12 * len(dropped))
    assert dropped.mean() == pytest.approx(total / 2, abs=middle)
    # Neighbours are dropped together as often as independence says.
    both = np.isin(dropped + 1, dropped).mean()
    assert both == pytest.approx(share, abs=5 * np.sqrt(share / len(dropped)) + 1e-9)


def test_dropout_keeps_the_expectation_of_a_layer():
    """F is linear in the last hidden layer: over 4,000 draws the mean is F without dropout."""
    network = Network(hidden=(50,), activations=("tanh",), dropout=(0.3,))
    weights = torch.from_numpy(network.initialise(0))
    x = torch.ones(4000, 2)
    noisy = reference.forward(network, weights, x, dropout(network).draw(4000))
    plain = reference.forward(network, weights, x[:1], [None])
    assert noisy.mean().item() == pytest.approx(plain.item(), abs=5 * noisy.std().item() / 63)


def test_dropout_obeys_its_generator():
    draws = []
    for seed in (0, 0, 1):
        units = dropout(Network(), seed).draw(5)[1]
        assert units is not None
        draws.append(units.tolist())
    assert draws[0] == draws[1] != draws[2]


def test_every_step_draws_again_also_across_what_was_drawn_ahead():
    """40 rows of 640 units: 20 steps are drawn ahead; 50 steps differ and meet the share."""
    source = dropout(Network())
    steps = [source.draw(40)[1].tolist() for _ in range(50)]
    assert len({tuple(step) for step in steps}) == 50
    assert all(min(step) >= 0 and max(step) < 40 * 640 for step in steps)
    assert np.mean([len(step) for step in steps]) / (40 * 640) == pytest.approx(0.05, abs=0.001)


@pytest.mark.parametrize("share", [0.001, 0.05, 0.3, 0.9])
def test_dropped_units_are_those_at_the_ends_of_geometric_gaps(share):
    """Two layers of 5,000 units, 104 steps of each drawn ahead, all gaps of a layer at once."""
    network = Network(hidden=(50, 50), activations=("relu", "relu"), dropout=(share, share))
    source, steps = dropout(network), 104
    found = [source.draw(100) for _ in range(steps)]
    plain, units = stream(0, "dropout"), steps * 5000
    for layer in range(2):
        count = int(units * share + 6 * np.sqrt(units * share)) + 8
        gaps = 1 + plain.standard_exponential(count) / -np.log1p(-share) // 1
        (inside,) = np.nonzero((indices := np.cumsum(gaps) - 1) < units)
        assert len(inside) < count
        expected = indices[inside]
        drawn = np.concatenate([step[layer].numpy() + 5000 * t for t, step in enumerate(found)])
        assert (drawn == expected).all()
