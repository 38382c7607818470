from math import prod

import numpy as np
import pytest
import torch

from tests.attacks.worlds import SMALL, around, flat, inside, make_data, make_header, observe
from veilmap.attacks.heatmap.linearisation import Guess, nodes
from veilmap.attacks.heatmap.updates import UpdateBatch
from veilmap.attacks.leak import leaked_gradient
from veilmap.attacks.tangent import factors
from veilmap.federation.plan import Training
from veilmap.model.network import Network
from veilmap.model.prediction import predict

SLOW_STEPS = Training(epochs=400, batch_size="inf", learning_rate=2e-3)


def nodes_of(header, name, seen, xy_m):
    """Of one update, guessed to be as often at each of these places."""
    scaler = header.side_knowledge.scaler
    x = torch.from_numpy((np.atleast_2d(xy_m) - scaler.mean_m) / scaler.scale_m)[None]
    guess = Guess(x, torch.full(x.shape[:2], 1 / x.shape[1], dtype=x.dtype))
    return x, nodes(name, UpdateBatch.of(header, [seen], torch.device("cpu")), guess)


def tangent(header, name, seen, xy_m, shares):
    """Σ_j c_j J̄(x_j) of a linearisation, flat."""
    x, along = nodes_of(header, name, seen, xy_m)
    c = torch.from_numpy(np.asarray(shares, float))[None]
    parts = [
        float(node.share) * flat(factors(header.network, node.weights, x).combine(c))[0]
        for node in along
    ]
    return sum(parts)


def unexplained(header, name, seen, place_m):
    """The sine of the angle between the update and the tangent at the place."""
    j, goal = tangent(header, name, seen, place_m[None], [1.0]), leaked_gradient(seen)
    cosine = j @ goal / np.linalg.norm(j) / np.linalg.norm(goal)
    return float(np.sqrt(1 - cosine**2))


def test_one_step_is_explained_exactly_by_the_weights_before():
    """G = η (2/N) Σ r_i J(x_i), to the precision of float32 weights."""
    header, data = make_header(), around([0.3, 0.6], 10)
    seen = observe(header, data)
    x = header.side_knowledge.scaler.standardise(data.xy_m)
    residuals = predict(SMALL, seen.weights_before, x) - data.rsrp_dbm
    explained = tangent(header, "before", seen, data.xy_m, 1e-3 * 2 / 10 * residuals)
    np.testing.assert_allclose(explained, leaked_gradient(seen), atol=1e-6)
    assert np.abs(explained).max() > 1e-2


def test_before_middle_and_after_are_single_nodes_on_the_straight_line():
    header = make_header()
    seen = observe(header, around([0.3, 0.6], 10))
    before, after = seen.weights_before.astype(float), seen.weights_after.astype(float)
    expected = {"before": before, "middle": (before + after) / 2, "after": after}
    for name, weights in expected.items():
        _, (node,) = nodes_of(header, name, seen, inside([0.3, 0.6]))
        assert node.share.tolist() == [1]
        np.testing.assert_allclose(flat(node.weights)[0], weights)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "elu"])
def test_the_path_explains_a_long_run_at_one_place_better_than_the_middle(seed, activation):
    network = Network((8, 6), ("tanh", activation), (0.0, 0.0), "pytorch")
    header, place_m = make_header(network, SLOW_STEPS), inside([0.35, 0.6])
    seen = observe(header, make_data(place_m, -10.0), seed)
    left = {name: unexplained(header, name, seen, place_m) for name in ("path", "middle", "before")}
    assert left["path"] < 0.5 * left["middle"]
    assert left["path"] < 0.2 * left["before"]


def test_the_shares_of_the_path_sum_to_1_and_its_nodes_lie_on_the_way():
    network = Network((8, 6), ("tanh", "sigmoid"), (0.0, 0.0), "pytorch")
    header, place_m = make_header(network, SLOW_STEPS), inside([0.35, 0.6])
    seen = observe(header, make_data(place_m, -10.0))
    _, along = nodes_of(header, "path", seen, place_m)
    assert sum(float(node.share) for node in along) == pytest.approx(1)
    assert prod(float(node.share) for node in along) > 0
    goal = leaked_gradient(seen)
    progress = [
        (seen.weights_before - flat(node.weights)[0]) @ goal / (goal @ goal) for node in along
    ]
    np.testing.assert_allclose(progress, [1 / 6, 3 / 6, 5 / 6], atol=0.05)


@pytest.mark.parametrize("rounds", [(0, 0), (0, 1)], ids=["shared weights", "own weights"])
def test_the_paths_of_several_updates_are_those_of_each(rounds):
    header = make_header(training=SLOW_STEPS)
    seen = [
        observe(header, around(spot, 8), seed)
        for spot, seed in zip(([0.3, 0.6], [0.7, 0.2]), rounds, strict=True)
    ]
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(2, 3, 2)))
    shares = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]], dtype=x.dtype)
    cpu = torch.device("cpu")
    together = nodes("path", UpdateBatch.of(header, seen, cpu), Guess(x, shares))
    # A place without a share is as good as none.
    for i, places in enumerate((slice(0, 2), slice(0, 3))):
        guess = Guess(x[i : i + 1, places], shares[i : i + 1, places])
        alone = nodes("path", UpdateBatch.of(header, [seen[i]], cpu), guess)
        for node, one in zip(together, alone, strict=True):
            assert float(node.share[i]) == pytest.approx(float(one.share), rel=1e-9)
            np.testing.assert_allclose(flat(node.weights)[i], flat(one.weights)[0], rtol=1e-9)
