import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attacks.test_tangent import explicit, tangents
from tests.attacks.worlds import SMALL, as_blocks
from veilmap.attacks.heatmap.linearisation import PathNode
from veilmap.attacks.heatmap.normal_equations import Dictionary
from veilmap.attacks.heatmap.updates import Goal

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


def equations(network, weights, shares, x, vector, *, for_one=False):
    nodes = [
        PathNode(torch.tensor([a], dtype=torch.float64), as_blocks(network, w))
        for a, w in zip(shares, weights, strict=True)
    ]
    goal = Goal.of(as_blocks(network, vector))
    dictionary = Dictionary(
        network, nodes, torch.from_numpy(x)[None], goal=goal if for_one else None
    )
    return dictionary.equations(goal)


def gram(equations, update=0):
    """All rows of K."""
    updates, count = equations.b.shape
    return equations.rows(torch.arange(count).expand(updates, -1))[update]


@settings(max_examples=40)
@given(case=tangents(points=5, updates=3), shares=st.sampled_from(SHARES), for_one=st.booleans())
def test_gram_and_b_are_products_of_the_explicit_tangents_by_half(case, shares, for_one):
    network, weights, x, vector = case
    weights, goal, x = weights[: len(shares)], vector[0], x[0]
    j = explicit(network, weights, np.stack([x] * len(shares)))[1]
    mean = np.einsum("n,npw->pw", shares, j)
    scale, first = layer_weights(network, goal), halves_by_hand(network)
    halves = equations(network, weights, shares, x, goal, for_one=for_one)
    for half, mine in zip(halves, (first, ~first), strict=True):
        by_hand = (mean * scale * mine) @ mean.T
        close = {"rtol": 1e-8, "atol": 1e-9 * np.abs((mean * scale) @ mean.T).max()}
        np.testing.assert_allclose(gram(half), by_hand, **close)
        np.testing.assert_allclose(half.mean_diagonal(), [by_hand.diagonal().mean()], **close)
        np.testing.assert_allclose(half.b[0], (mean * scale * mine) @ goal, **close)
        assert float(half.total) == pytest.approx((goal**2 * scale * mine).sum())


@settings(max_examples=20)
@given(case=tangents(points=5), seed=st.integers(0, 99))
def test_the_halves_add_up_to_the_whole_and_say_what_is_unexplained(case, seed):
    """|G − Σ c_j J(x_j)|² / |G|² with layers fitted; every layer counts 1 in |G|²."""
    network, weights, x, vector = case
    goal, scale = vector[0], layer_weights(network, vector[0])
    halves = equations(network, weights[:1], [1.0], x[0], goal)
    whole = halves[0] + halves[1]
    (j,) = explicit(network, weights[:1], x[:1])[1]
    np.testing.assert_allclose(gram(whole), (j * scale) @ j.T, rtol=1e-8, atol=1e-9)
    assert float(whole.total) == pytest.approx(len(network.shapes))
    c = np.random.default_rng(seed).normal(size=5) * [1, 0, 1, 1, 0]
    left = (scale * (goal - c @ j) ** 2).sum() / (scale * goal**2).sum()
    two = torch.from_numpy(np.stack([c, np.zeros(5)]))[None]
    assert whole.unexplained(two)[0].tolist() == pytest.approx([left, 1], rel=1e-6, abs=1e-9)


def test_a_layer_that_did_not_move_counts_nothing():
    weights = SMALL.initialise(0).astype(float)
    goal = np.zeros(SMALL.size)
    goal[-1] = 2.0
    x = np.random.default_rng(0).normal(size=(3, 2))
    first, second = equations(SMALL, [weights], [1.0], x, goal)
    assert (float(first.total), float(second.total)) == (1.0, 0.0)
    assert second.unexplained(torch.ones(1, 1, 3, dtype=torch.float64)).tolist() == [[0.0]]
    np.testing.assert_allclose(first.b, 0.5)


@settings(max_examples=20)
@given(
    case=tangents(points=5, updates=3),
    shared=st.booleans(),
    for_one=st.booleans(),
    seed=st.integers(0, 99),
)
def test_the_equations_of_several_updates_are_those_of_each(case, shared, for_one, seed):
    """Candidates of their own, the last of some updates being none; weights of all or of each."""
    network, weights, x, vector = case
    draw = np.random.default_rng(seed)
    count, shares = draw.integers(1, 6, 3), draw.uniform(0.1, 1, (2, 3))
    real = torch.from_numpy(np.arange(5) < count[:, None])
    along = (weights[:1], weights[1:2]) if shared else (weights, weights)
    nodes = [
        PathNode(torch.from_numpy(a[:1] if shared else a), as_blocks(network, w))
        for a, w in zip(shares, along, strict=True)
    ]
    goal = Goal.of(as_blocks(network, vector))
    dictionary = Dictionary(network, nodes, torch.from_numpy(x), real, goal if for_one else None)
    c = draw.normal(size=(3, 1, 5)) * real[:, None].numpy()
    for half, together in enumerate(dictionary.equations(goal)):
        for i in range(3):
            mine = (weights[0], weights[1]) if shared else (weights[i],) * 2
            one = equations(
                network, mine, shares[:, 0 if shared else i], x[i, : count[i]], vector[i]
            )
            alone, n = one[half], count[i]
            close = {"rtol": 1e-8, "atol": 1e-9 * float(1 + gram(alone).abs().max())}
            np.testing.assert_allclose(gram(together, i)[:n, :n], gram(alone), **close)
            assert not gram(together, i)[n:].any()
            np.testing.assert_allclose(together.b[i, :n], alone.b[0], **close)
            np.testing.assert_allclose(
                together.mean_diagonal()[i], alone.mean_diagonal()[0], **close
            )
            left = alone.unexplained(torch.from_numpy(c[i : i + 1, :, :n]))
            kept = together.keep(torch.tensor([i])).unexplained(torch.from_numpy(c[i : i + 1]))
            np.testing.assert_allclose(
                together.unexplained(torch.from_numpy(c))[i], left[0], **close
            )
            np.testing.assert_allclose(kept, left, **close)
