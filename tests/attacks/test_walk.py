import numpy as np
import pytest
import torch
from hypothesis import given, settings

from tests.attacks.test_tangent import tangents
from tests.attacks.worlds import SMALL
from veilmap.attacks import reference
from veilmap.attacks.matching import Matching
from veilmap.attacks.optimisers import Adam, Sgd
from veilmap.attacks.reconstruction import Outcome
from veilmap.attacks.walk import Rest, slopes, walk
from veilmap.model.network import Network

STEPS = 25
OPTIMISERS = {"sgd": (Sgd, torch.optim.SGD, 1.0), "adam": (Adam, torch.optim.Adam, 0.02)}


def make_rest(**changes) -> Rest:
    """Never at rest, never far: exactly STEPS iterations."""
    knobs = {
        "scale_m": (500.0, 400.0),
        "still_m": 1e-30,
        "still_iterations": 10**6,
        "max_iterations": STEPS,
        "middle_std": (0.0, 0.0),
        "far_m": np.inf,
    }
    return Rest(**{**knobs, **changes})


def make_problem(updates=3, starts=2, seed=0, network=SMALL):
    normal = np.random.default_rng(seed).normal
    weights, vector = normal(size=(2, updates, network.size))
    return weights, vector, normal(size=(updates, starts, 2))


def walked(weights, vector, x, label, optimiser, rest, network=SMALL, **options):
    matching = Matching.of(network, weights, vector)
    return walk(matching, torch.from_numpy(x), label, optimiser, rest, **options)


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


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("label", [-50.0, 50.0])
def test_the_walk_follows_algorithm_2_step_by_step(name, label):
    """To 1e-7 standardised units (less than a millimetre) over all steps."""
    ours, torchs, rate = OPTIMISERS[name]
    weights, vector, x = make_problem()
    result = walked(weights, vector, x, label, ours(rate), make_rest(), keep_path=True)
    path = np.array([*result.path_std, result.xy_std])
    for u, s in np.ndindex(*x.shape[:2]):
        slow = reference.algorithm_2(
            SMALL,
            weights[u],
            vector[u],
            (x[u, s], label),
            learning_rate=rate,
            iterations=STEPS,
            optimiser=torchs,
        )
        np.testing.assert_allclose(path[:, u, s], slow.xy_std, atol=1e-7)
        assert np.abs(slow.xy_std[-1] - x[u, s]).max() > 1e-2
    assert (result.outcome == Outcome.OUT_OF_ITERATIONS).all()
    assert (result.iterations == STEPS).all()


@pytest.mark.parametrize("name", OPTIMISERS)
def test_those_who_finish_drop_out_without_disturbing_the_others(name):
    ours, _, rate = OPTIMISERS[name]
    weights, vector, x = make_problem(updates=4)
    rest = make_rest(still_m=2.0, still_iterations=3, max_iterations=400)
    together = walked(weights, vector, x, -50.0, ours(rate), rest)
    assert len(np.unique(together.iterations)) > 3
    for u, s in np.ndindex(*x.shape[:2]):
        alone = walked(weights[[u]], vector[[u]], x[[u]][:, [s]], -50.0, ours(rate), rest)
        assert alone.iterations[0, 0] == together.iterations[u, s]
        assert alone.outcome[0, 0] == together.outcome[u, s]
        np.testing.assert_allclose(alone.xy_std[0, 0], together.xy_std[u, s], atol=1e-9)
        assert alone.cosine[0, 0] == pytest.approx(together.cosine[u, s], abs=1e-9)


class Script:
    """An optimiser that makes the given steps, whatever the slope."""

    def __init__(self, steps):
        self._steps = iter(steps)

    def step(self, x, gradient):
        return x + torch.tensor([next(self._steps), 0.0], dtype=x.dtype)

    def keep(self, updates):
        pass


def scripted(steps_m, **changes):
    """The walk of one location that starts at (0, 0), with 1 m per standardised unit."""
    weights, vector, _ = make_problem(updates=1)
    rest = make_rest(scale_m=(1.0, 1.0), max_iterations=len(steps_m), **changes)
    result = walked(weights, vector, np.zeros((1, 1, 2)), 0.0, Script(steps_m), rest)
    return result.outcome[0, 0], int(result.iterations[0, 0]), float(result.xy_std[0, 0, 0])


def test_rest_is_some_short_steps_in_a_row():
    """0.05 m counts as still below 0.1 m; the long third step starts the count of 3 anew."""
    steps_m = [0.05, 0.05, 1.0, 0.05, 0.05, 0.05, 7.0]
    outcome, iterations, x = scripted(steps_m, still_m=0.1, still_iterations=3)
    assert (outcome, iterations) == (Outcome.CONVERGED, 6)
    assert x == pytest.approx(1.25)


def test_a_step_of_exactly_still_m_is_a_step():
    outcome, iterations, _ = scripted([0.5] * 8, still_m=0.5, still_iterations=3)
    assert (outcome, iterations) == (Outcome.OUT_OF_ITERATIONS, 8)


def test_a_location_beyond_far_m_from_the_middle_is_given_up():
    outcome, iterations, x = scripted([4.0] * 5, far_m=10.0, middle_std=(3.0, 0.0))
    assert (outcome, iterations, x) == (Outcome.FAR_AWAY, 4, 16.0)


@pytest.mark.parametrize("step_m", [np.nan, np.inf])
def test_a_location_that_is_no_number_ends_as_not_finite(step_m):
    outcome, iterations, _ = scripted([1.0, step_m, 1.0], far_m=10.0)
    assert (outcome, iterations) == (Outcome.NOT_FINITE, 2)


def test_every_update_is_reported_once_it_rests():
    weights, vector, x = make_problem(updates=5)
    told = []
    rest = make_rest(still_m=2.0, still_iterations=3, max_iterations=60)
    result = walked(weights, vector, x, -50.0, Sgd(1.0), rest, on_rest=told.append)
    assert sum(told) == 5
    assert Outcome.OUT_OF_ITERATIONS in result.outcome
    assert Outcome.CONVERGED in result.outcome
