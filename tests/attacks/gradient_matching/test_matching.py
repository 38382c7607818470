import numpy as np
import pytest
import torch
from hypothesis import given, settings

from tests.attacks.test_tangent import tangents
from tests.attacks.worlds import SMALL, around, make_header, observe
from veilmap.attacks.gradient_matching import reference
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.attacks.leak import leaked_gradient
from veilmap.model.training import gradient


@pytest.mark.parametrize("above", [True, False], ids=["label above F", "label below F"])
@settings(max_examples=30)
@given(case=tangents())
def test_the_factored_cosine_is_that_of_double_back_propagation(above, case):
    network, weights, x, vector = case
    match = Matching.of(network, weights, vector).at(torch.from_numpy(x))
    labels = match.signal + (1.0 if above else -1.0)
    fast = match.with_label(labels).numpy()
    for u, p in np.ndindex(fast.shape):
        w = torch.tensor(weights[u], requires_grad=True)
        point, label = torch.from_numpy(x[u, p]), labels[u, p]
        slow = reference.cosine(
            network, w, torch.from_numpy(vector[u]), point, label, again=False
        ).item()
        assert fast[u, p] == pytest.approx(slow, rel=1e-5, abs=1e-12)


@settings(max_examples=20)
@given(case=tangents(updates=3))
def test_several_updates_at_once_are_each_alone_and_may_be_kept(case):
    network, weights, x, vector = case
    matching, points = Matching.of(network, weights, vector), torch.from_numpy(x)
    together = matching.at(points).cosine.numpy()
    kept = matching.keep(torch.tensor([False, True, True])).at(points[1:]).cosine.numpy()
    np.testing.assert_allclose(kept, together[1:], rtol=1e-9, atol=1e-12)
    for i in range(3):
        alone = Matching.of(network, weights[i : i + 1], vector[i : i + 1])
        cosine = alone.at(points[i : i + 1]).cosine.numpy()
        np.testing.assert_allclose(cosine[0], together[i], rtol=1e-9, atol=1e-12)


@settings(max_examples=20)
@given(case=tangents(updates=3))
def test_weights_and_candidates_may_be_shared(case):
    network, weights, x, vector = case
    first, same = torch.from_numpy(x[:1]), np.stack([weights[0]] * 3)
    each = Matching.of(network, same, vector).at(first.expand(3, -1, -1)).cosine.numpy()
    shared = Matching.of_rows(network, torch.from_numpy(weights[:1]), torch.from_numpy(vector))
    np.testing.assert_allclose(shared.at(first).cosine, each, rtol=1e-9, atol=1e-12)
    kept = shared.keep(torch.tensor([False, True, True])).at(first).cosine
    np.testing.assert_allclose(kept, each[1:], rtol=1e-9, atol=1e-12)


def test_the_length_of_the_gradient_does_not_matter_and_zero_matches_nothing():
    draw = np.random.default_rng(0)
    weights, vector = draw.normal(size=(2, SMALL.size))
    x = torch.from_numpy(draw.normal(size=(1, 5, 2)))
    at = [Matching.of(SMALL, [weights], [k * vector]).at(x).cosine for k in (1.0, 1e-9, 0.0)]
    np.testing.assert_allclose(at[0].numpy(), at[1].numpy(), rtol=1e-9)
    assert not at[2].any()


def test_the_leaked_gradient_is_eta_times_that_of_the_batch_and_points_uphill():
    header, data = make_header(), around([0.3, 0.6], 20)
    observation = observe(header, data)
    batch = header.side_knowledge.scaler.standardise(data.xy_m), data.rsrp_dbm.astype(np.float32)
    expected = 1e-3 * gradient(SMALL, observation.weights_before, batch)
    found = leaked_gradient(observation)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(expected).max() > 1e-2
