import numpy as np
import pytest
from scipy.spatial.distance import cdist

from veilmap.errors import UserError
from veilmap.kriging.dense import DenseKriging
from veilmap.kriging.kernel import PUBLIC, Kernel
from veilmap.kriging.observed import Observed
from veilmap.model.threads import one_thread


@pytest.fixture(autouse=True)
def _on_one_thread():
    with one_thread():
        yield


def make_observed(n=30, seed=0):
    draw = np.random.default_rng(seed)
    k = draw.integers(1, 6, n).astype(float)
    return Observed(draw.uniform(0, 500, (n, 2)), draw.normal(-95, 6, n), k)


def by_the_system(kernel, observed, xy_m):
    """Ordinary kriging as the textbook has it: one bordered system per place.

    Chilès and Delfiner, Geostatistics, eq. 3.14 to 3.16: (C 1; 1ᵀ 0)(λ; −μ) = (c; 1).
    """
    n = len(observed)
    left = np.zeros((n + 1, n + 1))
    left[:n, :n] = kernel.covariance(cdist(observed.xy_m, observed.xy_m))
    left[:n, :n] += np.diag(kernel.noise_db**2 / observed.k)
    left[n, :n] = left[:n, n] = 1
    right = np.ones((n + 1, len(xy_m)))
    right[:n] = kernel.covariance(cdist(observed.xy_m, xy_m))
    solved = np.linalg.solve(left, right)
    variance = kernel.std_db**2 - (solved * right).sum(axis=0)
    return observed.mean_db @ solved[:n], np.sqrt(variance)


@pytest.mark.parametrize("kernel", [PUBLIC, Kernel(1, 30, 12, 300, 0.5)])
def test_it_agrees_with_the_bordered_system(kernel):
    observed, xy_m = make_observed(), np.random.default_rng(1).uniform(-200, 700, (40, 2))
    mean_db, std_db = DenseKriging.of(kernel, observed).predict(xy_m)
    expected_mean_db, expected_std_db = by_the_system(kernel, observed, xy_m)
    np.testing.assert_allclose(mean_db, expected_mean_db, rtol=1e-9)
    np.testing.assert_allclose(std_db, expected_std_db, rtol=1e-6)


def test_one_place_alone_is_predicted_everywhere():
    """-90 of four values: the uncertainty far away is that of f, of the mean, and of the noise."""
    kernel = Kernel(3, 50, 4, 100, 2)
    kriging = DenseKriging.of(
        kernel, Observed(np.zeros((1, 2)), np.array([-90.0]), np.array([4.0]))
    )
    mean_db, std_db = kriging.predict(np.array([[0.0, 0], [1e5, 0]]))
    assert mean_db == pytest.approx([-90, -90])
    assert std_db[0] == pytest.approx(1)  # the noise of the mean of four: 2 / √4
    assert std_db[1] == pytest.approx(np.sqrt(25 + 25 + 1))


def test_hardly_noisy_measurements_are_kept():
    observed = make_observed()
    kernel = Kernel(4, 80, 9, 800, 1e-4)
    mean_db, std_db = DenseKriging.of(kernel, observed).predict(observed.xy_m)
    np.testing.assert_allclose(mean_db, observed.mean_db, atol=1e-5)
    assert std_db.max() < 1e-3


def test_more_values_at_a_place_pull_harder():
    """The same signals, of one value each or of 100 at the first place."""
    xy_m, dbm = np.array([[0.0, 0], [10, 0]]), np.array([-80.0, -100])
    few, many = (
        DenseKriging.of(PUBLIC, Observed(xy_m, dbm, np.array([k, 1.0]))).predict(xy_m[:1])
        for k in (1.0, 100.0)
    )
    assert many[0] > few[0]
    assert many[1] < few[1]


def test_all_places_are_predicted_in_blocks_as_at_once(monkeypatch):
    kriging, xy_m = DenseKriging.of(PUBLIC, make_observed()), make_observed(50, 1).xy_m
    at_once = kriging.predict(xy_m)
    monkeypatch.setattr("veilmap.kriging.dense._BLOCK", 100)
    np.testing.assert_allclose(kriging.predict(xy_m), at_once)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_kernel_is_of_numbers_above_0(value):
    with pytest.raises(UserError, match=r"short_m must be a finite number above 0, got"):
        Kernel(short_m=value)


def test_a_kernel_is_the_same_from_its_logarithms():
    assert vars(Kernel.of_logs(PUBLIC.logs())) == pytest.approx(vars(PUBLIC))
