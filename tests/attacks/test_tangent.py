import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.worlds import SMALL, as_blocks, flat, networks
from veilmap.attacks.tangent import factors
from veilmap.model.reference import forward


@st.composite
def tangents(draw, points=4, updates=2):
    """A network, and for each update: weights, points and a vector G."""
    network, seed = draw(networks()), draw(st.integers(0, 2**32 - 1))
    normal = np.random.default_rng(seed).normal
    weights, vector = normal(size=(2, updates, network.size))
    return network, weights, normal(size=(updates, points, 2)), vector


def explicit(network, weights, x):
    """F and J(x) of each update and point by autograd, a row per point."""
    signals, jacobians = [], []
    for w, points in zip(weights, x, strict=True):
        w = torch.tensor(w, requires_grad=True)
        found = forward(network, w, torch.tensor(points), [None] * len(network.hidden))
        rows = [torch.autograd.grad(each, w, retain_graph=True)[0] for each in found]
        signals.append(found.detach().numpy())
        jacobians.append(torch.stack(rows).numpy())
    return np.array(signals), np.array(jacobians)


def found_at(network, weights, x):
    return factors(network, as_blocks(network, weights), torch.from_numpy(x))


@settings(max_examples=40)
@given(tangents())
def test_products_of_factors_are_products_of_the_explicit_gradient(case):
    network, weights, x, vector = case
    signal, j = explicit(network, weights, x)
    found = found_at(network, weights, x)
    close = {"rtol": 1e-9, "atol": 1e-9 * np.abs(j).max()}
    np.testing.assert_allclose(found.signal.numpy(), signal, **close)
    inner = found.inner(as_blocks(network, vector)).numpy()
    np.testing.assert_allclose(inner, np.einsum("upw,uw->up", j, vector), **close)
    np.testing.assert_allclose(found.squared_norm().numpy(), (j**2).sum(-1), **close)


@settings(max_examples=40)
@given(tangents(), st.integers(0, 99))
def test_combine_is_the_weighted_sum_of_the_explicit_gradients(case, seed):
    network, weights, x, _ = case
    _, j = explicit(network, weights, x)
    shares = np.random.default_rng(seed).normal(size=x.shape[:2])
    combined = flat(found_at(network, weights, x).combine(torch.from_numpy(shares)))
    expected = np.einsum("upw,up->uw", j, shares)
    np.testing.assert_allclose(combined, expected, rtol=1e-9, atol=1e-9 * np.abs(j).max())


@settings(max_examples=20)
@given(tangents(updates=3))
def test_several_updates_at_once_are_each_alone(case):
    network, weights, x, vector = case
    together = found_at(network, weights, x).inner(as_blocks(network, vector)).numpy()
    for i in range(len(weights)):
        alone = found_at(network, weights[i], x[i : i + 1]).inner(as_blocks(network, vector[i]))
        np.testing.assert_allclose(together[i], alone[0].numpy(), rtol=1e-9, atol=1e-9)


def test_blocks_are_the_layers_of_the_flat_vector_in_order():
    weights = SMALL.initialise(3)
    blocks = as_blocks(SMALL, weights)
    for matrix, bias, (expected, expected_bias) in zip(
        blocks[::2], blocks[1::2], SMALL.layers(weights), strict=True
    ):
        assert matrix.dtype == torch.float64
        np.testing.assert_array_equal(matrix[0].numpy(), expected)
        np.testing.assert_array_equal(bias[0].numpy(), expected_bias)
    np.testing.assert_array_equal(flat(blocks)[0], weights)
