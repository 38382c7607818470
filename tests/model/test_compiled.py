import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.making import batch, dropout
from veilmap.model import compiled, numba_activations, reference, training
from veilmap.model.network import ACTIVATION_NAMES, Network

widths = st.integers(1, 70)


def make_network(units, width, activation="sigmoid", share=0.0):
    return Network((units, width), ("relu", activation), (share, share))


@settings(max_examples=40)
@given(
    widths,
    widths,
    st.sampled_from(ACTIVATION_NAMES),
    st.sampled_from([0.0, 0.2]),
    st.integers(1, 30),
    st.integers(0, 100),
)
def test_a_compiled_step_is_a_step_along_the_gradient(units, width, activation, share, rows, seed):
    """Widths around those of a register and of a tile; groups of rows that are not full."""
    network = make_network(units, width, activation, share)
    weights, own = network.initialise(seed), batch(rows, seed)
    stepped = compiled.descend(network, weights, [own], 1, 1.0, dropout(network, seed))
    slope = reference.gradient(network, weights, own, dropout(network, seed))
    np.testing.assert_allclose(
        weights - stepped, slope, rtol=1e-4, atol=1e-5 * np.abs(slope).max() + 1e-6
    )


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_compiled_training_equals_that_with_torch(share, monkeypatch):
    """The paper's network, three epochs, the last mini-batch smaller, calls of seven steps."""
    monkeypatch.setattr(compiled, "ROWS_AT_ONCE", 7 * 20)
    network = make_network(224, 640, share=share)
    weights = network.initialise(1)
    batches = [batch(20, seed) for seed in range(9)] + [batch(3, 9)]
    fast, slow = (
        way(network, weights, batches, 3, 1e-3, dropout(network))
        for way in (compiled.descend, training.descend_with_torch)
    )
    np.testing.assert_allclose(fast, slow, rtol=1e-4, atol=1e-5)


def test_training_is_compiled_where_it_can_be(monkeypatch):
    """Not without numba, nor with another first layer, nor with more rows than fit."""
    network, tanh = make_network(3, 2), Network((3, 2), ("tanh", "relu"), (0.0, 0.0))
    assert training.compiled_for(network) is compiled.descend
    assert training.compiled_for(tanh) is None

    def descend(*arguments):
        raise AssertionError

    monkeypatch.setattr(compiled, "descend", descend)
    large = batch(training.BLOCK_ROWS + 1)
    training.sgd(network, network.initialise(0), [large], epochs=1, learning_rate=1e-3)
    monkeypatch.setitem(sys.modules, "veilmap.model.compiled", None)
    training.sgd(network, network.initialise(0), [batch(5)], epochs=1, learning_rate=1e-3)


def test_training_overflows_where_that_with_torch_does():
    """Nodes of a federation must notice; 0 · ∞ may not become 0."""
    network = make_network(5, 4)
    huge = np.full(network.size, 1e30, np.float32)
    for way in (compiled.descend, training.descend_with_torch):
        assert np.isnan(way(network, huge, [batch(5)], 1, 1e-3, None)).any()


def test_what_is_not_finite_comes_out_again():
    network = make_network(5, 4)
    weights = network.initialise(0)
    weights[0] = np.nan
    after = training.sgd(network, weights, [batch(5)], epochs=1, learning_rate=1e-3)
    assert np.isnan(after).all()


FUNCTIONS = {
    "relu": lambda z: np.maximum(z, 0),
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "tanh": np.tanh,
    "elu": lambda z: np.where(z > 0, z, np.expm1(z)),
}


@pytest.mark.parametrize("name", ACTIVATION_NAMES)
def test_activations_are_right_to_some_units_in_the_last_place(name):
    z = np.concatenate([np.linspace(-80, 80, 100_001), np.linspace(-1, 1, 10_001)])
    h = z.astype(np.float32)
    exact = FUNCTIONS[name](h.astype(float))
    numba_activations.bend(numba_activations.KINDS[name], h)
    assert (np.abs(h - exact) <= 5 * np.spacing(np.abs(exact).astype(np.float32))).all()


@pytest.mark.parametrize("name", ACTIVATION_NAMES)
def test_activations_at_the_ends_are_their_limits(name):
    h = np.array([-np.inf, -1000, 1000, np.nan], np.float32)
    limits = {
        "relu": (0, 0, 1000),
        "sigmoid": (0, 0, 1),
        "tanh": (-1, -1, 1),
        "elu": (-1, -1, 1000),
    }
    numba_activations.bend(numba_activations.KINDS[name], h)
    np.testing.assert_allclose(h[:3], limits[name], atol=1e-30)
    assert np.isnan(h[3])


@pytest.mark.parametrize("name", ACTIVATION_NAMES)
def test_slopes_are_those_of_the_activation(name):
    z = np.array([-3, -0.5, 0.25, 2], np.float32)
    h, slopes = z.copy(), np.ones(4, np.float32)
    numba_activations.bend(numba_activations.KINDS[name], h)
    numba_activations.pull_back(numba_activations.KINDS[name], h, slopes)
    wide = z.astype(float)
    expected = (FUNCTIONS[name](wide + 1e-6) - FUNCTIONS[name](wide - 1e-6)) / 2e-6
    np.testing.assert_allclose(slopes, expected, rtol=1e-4)
