import sys
import time
from itertools import chain

import numpy as np
import pytest
import torch

from tests.attacks.gradient_matching.test_trajectory import make_criteria
from tests.attacks.worlds import SMALL, paper_network
from veilmap.attacks.gradient_matching import descent, reference
from veilmap.attacks.gradient_matching.batched_descent import descend_batched
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.gradient_matching.optimisers import Adam, Sgd
from veilmap.attacks.reconstruction import Outcome
from veilmap.model.network import Network

STEPS = 25
SCALE_M = (500.0, 400.0)
OPTIMISERS = {"sgd": (Sgd, torch.optim.SGD, 1.0), "adam": (Adam, torch.optim.Adam, 0.02)}
ONE_LAYER = Network((12,), ("sigmoid",), (0.0,))
NETWORKS = {"one by one": SMALL, "together": ONE_LAYER}


def make_problem(updates=3, starts=2, seed=0, network=SMALL):
    normal = np.random.default_rng(seed).normal
    weights, vector = normal(size=(2, updates, network.size))
    return weights, vector, normal(size=(updates, starts, 2))


def descended(weights, vector, x, label, optimiser, network=SMALL, criteria=None, **options):
    name, rate = optimiser
    matching, criteria = (
        Matching.of(network, weights, vector),
        criteria or make_criteria(scale_m=SCALE_M),
    )
    return descent.descend(
        matching, torch.from_numpy(x), label, lambda: OPTIMISERS[name][0](rate), criteria, **options
    )


def ends(trajectories):
    return np.array([[each.xy_std for each in row] for row in trajectories])


def outcomes(trajectories):
    return [each.outcome for row in trajectories for each in row]


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("label", [-50.0, 50.0])
def test_the_descent_follows_algorithm_2_step_by_step(name, label, network):
    """To 1e-7 standardised units (less than a millimetre) over all steps."""
    _, torchs, rate = OPTIMISERS[name]
    weights, vector, x = make_problem(network=network)
    result = descended(weights, vector, x, label, (name, rate), network, keep_path=True)
    for u, s in np.ndindex(*x.shape[:2]):
        slow = reference.algorithm_2(
            network,
            weights[u],
            vector[u],
            (x[u, s], label),
            learning_rate=rate,
            iterations=STEPS,
            optimiser=torchs,
        )
        np.testing.assert_allclose(result[u][s].path_std, slow.xy_std, atol=1e-7)
        assert np.abs(slow.xy_std[-1] - x[u, s]).max() > 1e-2
        assert result[u][s].iterations == STEPS
    assert set(outcomes(result)) == {Outcome.OUT_OF_ITERATIONS}


def test_one_by_one_and_batched_descents_of_the_papers_network_agree(monkeypatch):
    """Over 100 iterations, in which the location crosses dozens of creases; also the cosines."""
    network = paper_network()
    weights = np.stack([network.initialise(seed) for seed in range(2)])
    vector = np.random.default_rng(0).normal(size=weights.shape)
    x = np.random.default_rng(1).normal(size=(2, 2, 2))
    criteria = make_criteria(scale_m=SCALE_M, max_iterations=100)
    problem = weights, vector, x, -95.0, ("adam", 0.02), network, criteria
    alone = descended(*problem, keep_path=True)
    monkeypatch.setattr(descent, "descend_one_by_one", descend_batched)
    together = descended(*problem, keep_path=True)
    for one, other in zip(chain(*alone), chain(*together), strict=True):
        np.testing.assert_allclose(one.path_std, other.path_std, atol=1e-9)
        assert one.cosine == pytest.approx(other.cosine, abs=1e-12)
        assert (one.outcome, one.iterations) == (other.outcome, other.iterations)
        assert np.abs(np.subtract(one.xy_std, one.path_std[0])).max() > 0.5


def test_without_numba_descents_are_the_same(monkeypatch):
    weights, vector, x = make_problem()
    compiled = descended(weights, vector, x, -50.0, ("adam", 0.02), keep_path=True)
    monkeypatch.setitem(sys.modules, "veilmap.attacks.gradient_matching.compiled_descent", None)
    plain = descended(weights, vector, x, -50.0, ("adam", 0.02), keep_path=True)
    np.testing.assert_allclose(ends(plain), ends(compiled), rtol=0, atol=1e-9)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("name", OPTIMISERS)
def test_starts_that_finish_drop_out_without_disturbing_the_others(name, network):
    optimiser = name, OPTIMISERS[name][2]
    weights, vector, x = make_problem(updates=4, network=network)
    criteria = make_criteria(scale_m=SCALE_M, still_m=2.0, still_iterations=3, max_iterations=400)
    together = descended(weights, vector, x, -50.0, optimiser, network, criteria)
    assert len({each.iterations for row in together for each in row}) > 3
    for u, s in np.ndindex(*x.shape[:2]):
        problem = weights[[u]], vector[[u]], x[[u]][:, [s]]
        ((alone,),) = descended(*problem, -50.0, optimiser, network, criteria)
        assert alone.iterations == together[u][s].iterations
        assert alone.outcome == together[u][s].outcome
        np.testing.assert_allclose(alone.xy_std, together[u][s].xy_std, atol=1e-9)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_every_update_is_reported_once_it_rests(network):
    weights, vector, x = make_problem(updates=5, network=network)
    told = []
    criteria = make_criteria(scale_m=SCALE_M, still_m=2.0, still_iterations=3, max_iterations=60)
    result = descended(
        weights, vector, x, -50.0, ("sgd", 1.0), network, criteria, on_done=told.append
    )
    assert sum(told) == 5
    assert min(told) > 0
    assert Outcome.OUT_OF_ITERATIONS in outcomes(result)
    assert Outcome.CONVERGED in outcomes(result)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_the_time_is_that_of_each_trajectory(network):
    weights, vector, x = make_problem(network=network)
    began = time.perf_counter()
    result = descended(weights, vector, x, -50.0, ("adam", 0.02), network)
    took_s = time.perf_counter() - began
    assert all(0 < each.seconds <= took_s for row in result for each in row)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_the_cosine_is_that_at_the_end_in_the_precision_of_the_matching(network):
    weights, vector, x = make_problem(network=network)
    result = descended(weights, vector, x.astype(np.float32), -50.0, ("adam", 0.02), network)
    at = Matching.of(network, weights, vector).at(torch.from_numpy(ends(result)))
    expected = at.with_label(torch.tensor(-50.0, dtype=torch.float64)).numpy()
    found = [[each.cosine for each in row] for row in result]
    np.testing.assert_array_equal(found, expected)
