import numpy as np
import pytest
import torch
from hypothesis import given, settings

from tests.attacks.test_tangent import tangents
from veilmap.attacks.gradient_matching import reference
from veilmap.attacks.gradient_matching.batched_descent import slopes
from veilmap.attacks.gradient_matching.matching import Matching
from veilmap.model.network import Network


@settings(max_examples=30)
@given(case=tangents())
def test_slopes_are_the_gradient_of_the_reference_cosine(case):
    network, weights, x, vector = case
    label, points = torch.tensor(0.3, dtype=torch.float64), torch.from_numpy(x)
    matching = Matching.of(network, weights, vector)
    cosines, rises = slopes(matching, points, label)
    for u, p in np.ndindex(*x.shape[:2]):
        w = torch.tensor(weights[u], requires_grad=True)
        point = torch.tensor(x[u, p], requires_grad=True)
        goal = torch.from_numpy(vector[u])
        slow = reference.cosine(network, w, goal, point, label, again=True)
        (expected,) = torch.autograd.grad(slow, point)
        assert cosines[u, p].item() == pytest.approx(slow.item(), rel=1e-5, abs=1e-12)
        np.testing.assert_allclose(rises[u, p].numpy(), expected.numpy(), rtol=1e-5, atol=1e-9)


def test_a_crease_right_beside_a_point_does_not_bend_its_slope():
    """The only unit switches at x = 0; 1e-7 beside it the slope is what it is 0.01 beside it."""
    network = Network((1,), ("relu",), (0.0,))
    weights = np.array([[1.0, 0.0, 0.0, 1.0, 0.0]])
    matching = Matching.of(network, weights, [np.array([1.0, 2.0, 3.0, 4.0, 5.0])])
    beside = torch.tensor([[[1e-7, 0.5], [0.01, 0.5]]], dtype=torch.float64)
    _, rises = slopes(matching, beside, torch.tensor(-9.0, dtype=torch.float64))
    assert rises.abs().max() < 10
    np.testing.assert_allclose(rises[0, 0].numpy(), rises[0, 1].numpy(), atol=0.1)
