"""Universal kriging beside the system of its weights, written out."""

import numpy as np
import pytest

from tests.kriging.making import KERNEL, make_observed
from veilmap.kriging import dense
from veilmap.kriging.dense import DenseKriging
from veilmap.kriging.kernel import Kernel
from veilmap.kriging.observed import Observed

AT_M = np.random.default_rng(9).uniform(-200, 1200, (25, 2))


def by_hand(kernel, observed, at_m):
    """A place at a time: mean w·y, variance C(0) − w·c − λ, with weights w and λ of Σw = 1."""
    n = len(observed)
    system = np.ones((n + 1, n + 1))
    system[n, n] = 0
    for i in range(n):
        for j in range(n):
            d = np.hypot(*(observed.xy_m[i] - observed.xy_m[j]))
            system[i, j] = kernel.short_db**2 * np.exp(-d / kernel.short_m)
            system[i, j] += kernel.long_db**2 * np.exp(-d / kernel.long_m)
        system[i, i] += kernel.noise_db**2 / observed.k[i]
    mean_db, std_db = [], []
    for place in at_m:
        d = np.hypot(*(observed.xy_m - place).T)
        c = kernel.short_db**2 * np.exp(-d / kernel.short_m)
        c += kernel.long_db**2 * np.exp(-d / kernel.long_m)
        *w, multiplier = np.linalg.solve(system, [*c, 1.0])
        mean_db.append(w @ observed.mean_db)
        variance = kernel.short_db**2 + kernel.long_db**2 - w @ c - multiplier
        std_db.append(np.sqrt(variance))
    return np.array(mean_db), np.array(std_db)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_the_map_is_that_of_the_system_written_out(n):
    observed = make_observed(n)
    found = DenseKriging.of(KERNEL, observed).predict(AT_M)
    for mine, reference in zip(found, by_hand(KERNEL, observed, AT_M), strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-9, atol=1e-9)


def test_of_one_place_the_map_is_its_value_everywhere():
    """μ = y; variance s² − C²/v + (1 − C/v)²·v with v = s² + τ²/k, which is v + s² − 2·C."""
    observed = Observed(np.array([[3.0, 4.0]]), np.array([-7.5]), np.array([4.0]))
    mean_db, std_db = DenseKriging.of(KERNEL, observed).predict(AT_M)
    assert mean_db == pytest.approx(np.full(len(AT_M), -7.5))
    s2 = KERNEL.std_db**2
    v = s2 + KERNEL.noise_db**2 / 4
    covariance = KERNEL.covariance(np.hypot(*(AT_M - (3, 4)).T))
    assert std_db**2 == pytest.approx(v + s2 - 2 * covariance)


def test_without_noise_the_map_goes_through_what_was_observed():
    observed = make_observed()
    silent = Kernel(3.0, 60.0, 7.0, 500.0, noise_db=1e-6)
    mean_db, std_db = DenseKriging.of(silent, observed).predict(observed.xy_m)
    assert mean_db == pytest.approx(observed.mean_db, abs=1e-6)
    assert std_db == pytest.approx(np.zeros(len(observed)), abs=1e-4)


def test_far_away_the_map_is_the_mean_and_knows_nothing_else():
    """The variance is that of the signal and that of the mean, 1 / 1ᵀC⁻¹1."""
    observed = make_observed()
    kriged = DenseKriging.of(KERNEL, observed)
    mean_db, std_db = kriged.predict(np.array([[1e7, -1e7]]))
    assert mean_db == pytest.approx(kriged.mean_db)
    apart_m = np.linalg.norm(observed.xy_m[:, None] - observed.xy_m, axis=2)
    covariance = KERNEL.covariance(apart_m) + np.diag(KERNEL.noise_db**2 / observed.k)
    of_mean = 1 / np.linalg.inv(covariance).sum()
    assert std_db**2 == pytest.approx(KERNEL.std_db**2 + of_mean)


def test_a_shift_of_all_values_shifts_the_map():
    observed = make_observed()
    shifted = Observed(observed.xy_m, observed.mean_db + 12.5, observed.k)
    before, after = (DenseKriging.of(KERNEL, each).predict(AT_M) for each in (observed, shifted))
    assert after[0] == pytest.approx(before[0] + 12.5)
    assert (after[1] == before[1]).all()


def test_the_order_of_the_places_does_not_matter():
    observed = make_observed()
    turned = observed.take(np.arange(len(observed))[::-1])
    one, other = (DenseKriging.of(KERNEL, each).predict(AT_M) for each in (observed, turned))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_k_values_at_a_place_are_their_mean_observed_k_times():
    """Three places on one spot say what one place says whose mean is of three values."""
    elsewhere = make_observed(10)
    xy_m = np.vstack([elsewhere.xy_m, np.full((3, 2), 500.0)])
    k = np.append(elsewhere.k, np.ones(3))
    apart = Observed(xy_m, np.append(elsewhere.mean_db, [1.0, 5.0, 9.0]), k)
    together = Observed(xy_m[:11], np.append(elsewhere.mean_db, 5.0), np.append(elsewhere.k, 3.0))
    one, other = (DenseKriging.of(KERNEL, each).predict(AT_M) for each in (apart, together))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_places_are_computed_in_blocks_of_any_size(monkeypatch):
    kriged = DenseKriging.of(KERNEL, make_observed())
    whole = kriged.predict(AT_M)
    monkeypatch.setattr(dense, "_BLOCK", 3 * len(kriged.observed))
    np.testing.assert_allclose(kriged.predict(AT_M), whole, rtol=1e-12)
    monkeypatch.setattr(dense, "_BLOCK", 1)
    np.testing.assert_allclose(kriged.predict(AT_M), whole, rtol=1e-12)


def test_of_no_place_there_is_no_prediction():
    mean_db, std_db = DenseKriging.of(KERNEL, make_observed()).predict(np.empty((0, 2)))
    assert len(mean_db) == len(std_db) == 0


def test_all_values_equal_are_the_value_everywhere():
    observed = make_observed()
    equal = Observed(observed.xy_m, np.full(len(observed), 2.5), observed.k)
    mean_db, _ = DenseKriging.of(KERNEL, equal).predict(AT_M)
    assert mean_db == pytest.approx(np.full(len(AT_M), 2.5))
