import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prv_accountant import GaussianMechanism, PRVAccountant
from scipy.integrate import quad
from scipy.stats import norm

from veilmap.defences.gaussian import MAX, composed, delta_of, epsilon_of, mu_at, mu_of
from veilmap.errors import UserError

MUS = st.floats(1e-3, 1e4)
DELTAS = st.floats(1e-12, 0.5)


@pytest.mark.parametrize(
    ("mu", "epsilon", "delta"), [(1, 1, 0.12693674), (3, 1, 0.78760074), (1, 2, 0.02092364)]
)
def test_delta_is_that_of_the_tests_of_googles_library(mu, epsilon, delta):
    """dp-accounting 0.6.0, pld/privacy_loss_mechanism_test."""
    assert delta_of(mu, epsilon) == pytest.approx(delta, abs=5e-9)
    assert epsilon_of(mu, delta) == pytest.approx(epsilon, rel=1e-6)
    assert mu_of(epsilon, delta) == pytest.approx(mu, rel=1e-6)


def test_the_least_noise_is_that_of_googles_library():
    """The same file: σ = 0.344 for ε = 16, δ = 1.016e-5 and sensitivity 1."""
    assert 1 / mu_of(16, 1.016e-5) == pytest.approx(0.344, abs=5e-5)


@pytest.mark.parametrize(("mu", "rounds"), [(0.3, 1), (1, 10), (2, 11), (1 / 0.04844805, 1),
                                            (1 / 0.04844805, 11)])  # fmt: skip
def test_epsilon_lies_within_the_bounds_of_microsofts_accountant(mu, rounds):
    """It composes privacy losses numerically and knows nothing of μ√T."""
    oracle = PRVAccountant(
        prvs=[GaussianMechanism(1 / mu)],
        max_self_compositions=[rounds],
        eps_error=0.1,
        delta_error=1e-10,
    )
    low, estimate, high = oracle.compute_epsilon(delta=1e-5, num_self_compositions=[rounds])
    exact = epsilon_of(composed(mu, rounds), 1e-5)
    assert low < exact < high
    assert exact == pytest.approx(estimate, abs=2e-3)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.5, 0.1), (1, 3), (4, 20), (0.05, 0.1)])
def test_delta_is_the_integral_of_the_excess_of_one_density(mu, epsilon):
    def excess(x):
        return max(norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x), 0)

    begin = mu / 2 + epsilon / mu
    assert delta_of(mu, epsilon) == pytest.approx(quad(excess, begin, begin + 12)[0], rel=1e-6)


@pytest.mark.parametrize("mu", [1e-6, 0.1, 1, 5])
def test_without_epsilon_delta_is_the_total_variation(mu):
    assert delta_of(mu, 0) == pytest.approx(math.erf(mu / math.sqrt(8)), rel=1e-9)


@pytest.mark.parametrize("mu", [0.1, 1, 3])
def test_a_delta_above_the_total_variation_needs_no_epsilon(mu):
    variation = math.erf(mu / math.sqrt(8))
    assert epsilon_of(mu, 1.01 * variation) == 0
    assert 0 < epsilon_of(mu, 0.99 * variation) < 0.2


@pytest.mark.parametrize("a", [-37.0, -1.0, 0.0, 1.0, 37.0])
def test_mu_keeps_its_digits_where_epsilon_is_tiny(a):
    mu = mu_at(a, 1e-9)
    assert mu / 2 - 1e-9 / mu == pytest.approx(a, rel=1e-12, abs=1e-16)


def test_the_papers_100_is_300_in_one_round_and_2634_in_11():
    mu = 100 / math.sqrt(2 * math.log(1.25e5))
    assert 1 / mu == pytest.approx(0.0484, abs=5e-5)
    assert epsilon_of(mu, 1e-5) == pytest.approx(300.14, abs=0.01)
    assert epsilon_of(composed(mu, 11), 1e-5) == pytest.approx(2634.20, abs=0.01)


@settings(max_examples=100)
@given(MUS, DELTAS)
def test_epsilon_and_delta_are_inverse(mu, delta):
    epsilon = epsilon_of(mu, delta)
    if epsilon > 0:
        assert delta_of(mu, epsilon) == pytest.approx(delta, rel=1e-6)
    else:
        assert delta_of(mu, 0) <= delta * (1 + 1e-12)


@settings(max_examples=100)
@given(st.floats(1e-3, 1e7), DELTAS)
def test_mu_and_epsilon_are_inverse(epsilon, delta):
    assert epsilon_of(mu_of(epsilon, delta), delta) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("mu", [0.1, 1, 40])
def test_delta_falls_with_epsilon_and_rises_with_mu(mu):
    top = epsilon_of(mu, 1e-200)
    deltas = [delta_of(mu, epsilon) for epsilon in np.linspace(0, top, 50)]
    assert (np.diff(deltas) <= 0).all()
    assert deltas[-1] == pytest.approx(1e-200, rel=1e-6)
    epsilon = epsilon_of(mu, 1e-5)
    rising = [delta_of(each, epsilon) for each in np.linspace(0.9 * mu, 1.1 * mu, 50)]
    assert (np.diff(rising) > 0).all()


def test_epsilon_goes_to_0_with_mu():
    epsilons = [epsilon_of(mu, 1e-5) for mu in (1, 0.1, 1e-2, 1e-3, 1e-5, 1e-12)]
    assert epsilons == sorted(epsilons, reverse=True)
    assert 0 < epsilons[3] < 0.002
    assert epsilons[-2:] == [0, 0]


@pytest.mark.parametrize("mu", [1e6, 1e9, MAX])
def test_a_huge_mu_has_an_epsilon_near_half_its_square(mu):
    """ε = μ²/2 + 4.26 μ: Φ(−4.2649) is 1e-5, and the second term is gone."""
    assert epsilon_of(mu, 1e-5) == pytest.approx(mu**2 / 2 + 4.26489 * mu, rel=1e-12)


def test_rounds_compose_by_the_root_of_their_number():
    assert composed(0.5, 1) == 0.5
    assert composed(0.5, 4) == 1
    assert composed(composed(0.5, 3), 12) == pytest.approx(composed(0.5, 36))


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), 1e13])
def test_what_is_no_mu_or_epsilon_is_refused_with_its_value(bad):
    with pytest.raises(UserError, match=rf"mu must be above 0 and at most 1e\+12, got {bad}"):
        epsilon_of(bad, 1e-5)
    with pytest.raises(UserError, match="mu must be"):
        delta_of(bad, 1)
    with pytest.raises(UserError, match=r"epsilon must be above 0 and at most 1e\+12, got"):
        mu_of(bad, 1e-5)
    if bad != 0:
        with pytest.raises(UserError, match="epsilon must be"):
            delta_of(1, bad)


@pytest.mark.parametrize("bad", [0, 1, -0.1, 1.5, float("nan")])
def test_a_delta_outside_0_to_1_is_refused_with_its_value(bad):
    with pytest.raises(UserError, match=f"delta must be above 0 and below 1, got {bad}"):
        epsilon_of(1, bad)
    with pytest.raises(UserError, match="delta must be above 0 and below 1"):
        mu_of(1, bad)


def test_fewer_than_one_round_is_refused():
    with pytest.raises(UserError, match="rounds must be at least 1, got 0"):
        composed(1, 0)
