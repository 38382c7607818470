import numpy as np
import pytest
from scipy.stats import multivariate_normal

from tests.kriging.making import KERNEL, drawn_from, make_observed
from veilmap.kriging.kernel import Kernel
from veilmap.kriging.likelihood import MOST_FITTED, _Likelihood, _Prior, fitted_kernel
from veilmap.kriging.observed import Observed

STEP = 1e-6


def kernels(count=5):
    draw = np.random.default_rng(3)
    return [Kernel.of_logs(KERNEL.logs() + draw.normal(0, 0.5, 5)) for _ in range(count)]


def differences(function, logs):
    """Central, along each coordinate."""
    steps = STEP * np.eye(len(logs))
    return np.array([(function(logs + s) - function(logs - s)) / (2 * STEP) for s in steps])


@pytest.mark.parametrize("kernel", kernels(), ids=str)
def test_the_value_is_that_of_the_normal_density(kernel):
    """Up to the constant n/2·log 2π, with the mean under its wide prior."""
    observed = make_observed(20)
    y_db = observed.mean_db - np.average(observed.mean_db, weights=observed.k)
    apart_m = np.linalg.norm(observed.xy_m[:, None] - observed.xy_m, axis=2)
    noise = np.diag(kernel.noise_db**2 / observed.k)
    covariance = kernel.covariance(apart_m) + noise + 30.0**2
    density = multivariate_normal(np.zeros(20), covariance).logpdf(y_db)
    value, _ = _Likelihood.of(observed).minus_log(kernel.logs())
    assert value == pytest.approx(-density - 10 * np.log(2 * np.pi))


@pytest.mark.parametrize("kernel", kernels(), ids=str)
def test_the_slope_is_that_of_finite_differences(kernel):
    likelihood, logs = _Likelihood.of(make_observed(20)), kernel.logs()
    _, slope = likelihood.minus_log(logs)
    expected = differences(lambda at: likelihood.minus_log(at)[0], logs)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-5)


def test_the_slope_of_the_prior_is_that_of_finite_differences():
    prior, logs = _Prior.of(make_observed()), KERNEL.logs()
    expected = differences(prior.minus_log, logs)
    np.testing.assert_allclose(prior.slope(logs), expected, rtol=1e-6, atol=1e-6)
    assert prior.minus_log(prior.mode) == 0


def test_no_kernel_near_the_fitted_one_is_more_likely():
    observed = make_observed(60)
    prior, likelihood = _Prior.of(observed), _Likelihood.of(observed)

    def minus_log(logs):
        return likelihood.minus_log(logs)[0] + prior.minus_log(logs)

    best = fitted_kernel(observed).logs()
    draw = np.random.default_rng(0)
    near = np.clip(best + draw.normal(0, 0.1, (100, 5)), prior.low, prior.high)
    assert min(map(minus_log, near)) > minus_log(best) - 1e-3
    assert minus_log(best) < minus_log(prior.mode)


def test_the_kernel_that_values_were_drawn_from_is_found():
    """Of 400 places; over ten seeds in the median the noise to 20 % and the spread to 30 %."""
    found = [fitted_kernel(drawn_from(KERNEL, 400, seed)) for seed in range(10)]
    for kernel in found:
        assert kernel.noise_db == pytest.approx(KERNEL.noise_db, rel=0.5)
        assert kernel.std_db == pytest.approx(KERNEL.std_db, rel=0.5)
    assert np.median([k.noise_db for k in found]) == pytest.approx(KERNEL.noise_db, rel=0.2)
    assert np.median([k.std_db for k in found]) == pytest.approx(KERNEL.std_db, rel=0.3)


def test_a_shift_of_all_values_leaves_the_kernel():
    observed = make_observed(60)
    shifted = Observed(observed.xy_m, observed.mean_db + 50, observed.k)
    assert fitted_kernel(shifted).logs() == pytest.approx(fitted_kernel(observed).logs(), abs=1e-3)


def test_of_many_places_some_are_drawn_and_always_the_same():
    observed = make_observed(MOST_FITTED + 200, extent_m=5000.0)
    assert fitted_kernel(observed) == fitted_kernel(observed)


@pytest.mark.parametrize(
    "observed",
    [
        make_observed(1),
        make_observed(2),
        Observed(np.zeros((30, 2)), np.arange(30.0), np.ones(30)),
        Observed(make_observed().xy_m, np.zeros(40), np.ones(40)),
        make_observed(40, extent_m=1e7),
    ],
    ids=["one place", "two places", "all on one spot", "all equal", "a continent"],
)
def test_whatever_was_observed_there_is_a_kernel(observed):
    kernel = fitted_kernel(observed)
    assert np.isfinite(kernel.logs()).all()
