import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.test_tangent import explicit, tangents
from tests.attacks.worlds import SMALL
from veilmap.attacks.linearisation import Node
from veilmap.attacks.normal_equations import Dictionary
from veilmap.attacks.tangent import as_blocks

SHARES = ([1.0], [0.5, 0.3, 0.2])


def halves_by_hand(network):
    """Which flat coordinates belong to the first half: every other unit, or input of the last."""
    first = []
    for outputs, inputs in network.shapes:
        if outputs > 1:
            units = np.arange(outputs) % 2 == 0
            first += [np.repeat(units, inputs), units]
        else:
            first += [np.arange(inputs) % 2 == 0, [True]]
    return np.concatenate(first)


def layer_weights(network, vector):
    """1/|G_l|² for each flat coordinate."""
    weights, start = np.empty(network.size), 0
    for outputs, inputs in network.shapes:
        layer = slice(start, start + outputs * (inputs + 1))
        length = (vector[layer] ** 2).sum()
        weights[layer] = 1 / length if length else 0.0
        start = layer.stop
    return weights


def equations(network, weights, shares, x, vector):
    nodes = [Node(a, as_blocks(network, w)) for a, w in zip(shares, weights, strict=True)]
    dictionary = Dictionary(network, nodes, torch.from_numpy(x))
    return dictionary.equations(as_blocks(network, vector))


@settings(max_examples=40)
@given(case=tangents(points=5, updates=3), shares=st.sampled_from(SHARES))
def test_gram_and_b_are_products_of_the_explicit_tangents_by_half(case, shares):
    network, weights, x, vector = case
    weights, goal, x = weights[: len(shares)], vector[0], x[0]
    j = explicit(network, weights, np.stack([x] * len(shares)))[1]
    mean = np.einsum("n,npw->pw", shares, j)
    scale, first = layer_weights(network, goal), halves_by_hand(network)
    halves = equations(network, weights, shares, x, goal)
    for half, mine in zip(halves, (first, ~first), strict=True):
        gram = (mean * scale * mine) @ mean.T
        close = {"rtol": 1e-8, "atol": 1e-9 * np.abs((mean * scale) @ mean.T).max()}
        np.testing.assert_allclose(half.gram, gram, **close)
        np.testing.assert_allclose(half.b, (mean * scale * mine) @ goal, **close)
        assert half.total == pytest.approx((goal**2 * scale * mine).sum())


@settings(max_examples=20)
@given(case=tangents(points=5), seed=st.integers(0, 99))
def test_the_halves_add_up_to_the_whole_and_say_what_is_unexplained(case, seed):
    """|G − Σ c_j J(x_j)|² / |G|² with layers weighed; every layer counts 1 in |G|²."""
    network, weights, x, vector = case
    goal, scale = vector[0], layer_weights(network, vector[0])
    halves = equations(network, weights[:1], [1.0], x[0], goal)
    whole = halves[0] + halves[1]
    (j,) = explicit(network, weights[:1], x[:1])[1]
    np.testing.assert_allclose(whole.gram, (j * scale) @ j.T, rtol=1e-8, atol=1e-9)
    assert whole.total == pytest.approx(len(network.shapes))
    c = np.random.default_rng(seed).normal(size=5) * [1, 0, 1, 1, 0]
    left = (scale * (goal - c @ j) ** 2).sum() / (scale * goal**2).sum()
    assert whole.unexplained(c) == pytest.approx(left, rel=1e-6, abs=1e-9)
    assert whole.unexplained(np.zeros(5)) == 1


def test_a_layer_that_did_not_move_counts_nothing():
    weights = SMALL.initialise(0).astype(float)
    goal = np.zeros(SMALL.size)
    goal[-1] = 2.0
    x = np.random.default_rng(0).normal(size=(3, 2))
    first, second = equations(SMALL, [weights], [1.0], x, goal)
    assert (first.total, second.total) == (1.0, 0.0)
    assert second.unexplained(np.ones(3)) == 0.0
    np.testing.assert_allclose(first.b, 0.5)
