import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal

from tests.kriging.test_dense import make_observed
from veilmap.kriging.kernel import PUBLIC, Kernel
from veilmap.kriging.likelihood import MOST_SQUARES, _Likelihood, _Prior, fitted_kernel
from veilmap.kriging.observed import Observed
from veilmap.model.threads import one_thread


@pytest.fixture(autouse=True)
def _on_one_thread():
    with one_thread():
        yield


def test_differences_of_the_likelihood_are_those_of_the_normal_density():
    """The constant terms are left out, so that only differences between kernels agree."""
    observed = make_observed(12)
    kernels = PUBLIC, Kernel(2, 40, 5, 300, 1)
    likelihood = _Likelihood.of(observed)
    found = [likelihood.minus_log(kernel.logs())[0] for kernel in kernels]
    expected = []
    for kernel in kernels:
        covariance = kernel.covariance(cdist(observed.xy_m, observed.xy_m)) + 30.0**2
        covariance += np.diag(kernel.noise_db**2 / observed.k)
        expected.append(-multivariate_normal(cov=covariance).logpdf(likelihood.y_db))
    assert found[0] - found[1] == pytest.approx(expected[0] - expected[1])


def test_the_slope_is_that_of_finite_differences():
    observed = make_observed(15)
    likelihood, prior = _Likelihood.of(observed), _Prior.of(observed)
    for logs in (PUBLIC.logs(), Kernel(2, 40, 5, 300, 1).logs()):
        value, slope = (
            (lambda x: likelihood.minus_log(x)[0]),
            (lambda x: likelihood.minus_log(x)[1]),
        )
        assert check_grad(value, slope, logs) < 1e-4 * np.abs(slope(logs)).max()
        assert check_grad(prior.minus_log, prior.slope, logs) < 1e-5


def test_the_fit_is_more_likely_than_where_it_began():
    observed = make_observed(60)
    likelihood, prior = _Likelihood.of(observed), _Prior.of(observed)

    def minus_log(logs):
        return likelihood.minus_log(logs)[0] + prior.minus_log(logs)

    fitted = fitted_kernel(observed)
    assert minus_log(fitted.logs()) < minus_log(prior.mode)
    assert (fitted.logs() >= prior.low - 1e-9).all()
    assert (fitted.logs() <= prior.high + 1e-9).all()


def test_the_noise_of_simulated_measurements_is_found():
    """3 dB on single values, over a field that is smooth: within 20 %."""
    draw = np.random.default_rng(0)
    xy_m = draw.uniform(0, 1000, (400, 2))
    dbm = -95 + 10 * np.sin(xy_m[:, 0] / 300) + draw.normal(0, 3, 400)
    assert fitted_kernel(Observed(xy_m, dbm, np.ones(400))).noise_db == pytest.approx(3, rel=0.2)


def test_of_many_places_some_are_drawn_and_always_the_same():
    observed = make_observed(MOST_SQUARES + 50)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("veilmap.kriging.likelihood.MOST_SQUARES", 60)
        assert fitted_kernel(observed) == fitted_kernel(observed)
