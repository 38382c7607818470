import numpy as np
import pytest
from scipy.special import lambertw
from scipy.stats import kstest

from veilmap.defences.planar_laplace import draw_m, radius_m

N = 20_000
EPSILON_PER_M = 0.01


@pytest.fixture(scope="module")
def moved_m():
    return draw_m(N, EPSILON_PER_M, np.random.default_rng(5))


def cdf(r_m):
    return 1 - (1 + EPSILON_PER_M * r_m) * np.exp(-EPSILON_PER_M * r_m)


def test_the_radius_is_that_of_andres_et_al():
    """Their formula (§ 4.1), by the branch −1 of Lambert's W."""
    p = np.linspace(0.001, 0.999, 300)
    theirs_m = -(lambertw((p - 1) / np.e, -1).real + 1) / EPSILON_PER_M
    np.testing.assert_allclose(radius_m(p, EPSILON_PER_M), theirs_m, rtol=1e-10)


def test_half_of_the_points_move_less_than_168_m():
    """(1 + x) e^−x = 1/2 at x = 1.67835."""
    assert radius_m(np.array([0.5]), EPSILON_PER_M) == pytest.approx([167.835], abs=0.001)


def test_the_radius_undoes_the_cdf():
    r_m = np.linspace(1, 2500, 200)
    np.testing.assert_allclose(radius_m(cdf(r_m), EPSILON_PER_M), r_m, rtol=1e-6)


def test_the_smallest_and_the_largest_share_have_a_radius():
    """Near 0 the CDF is (εr)²/2; the largest number below 1 that is drawn is 1 − 2⁻⁵³."""
    shares = np.array([0, 1e-18, 1 - 2.0**-53])
    expected = [0, np.sqrt(2e-18), 40.46]
    np.testing.assert_allclose(radius_m(shares, 1.0), expected, rtol=1e-3)


def test_the_mean_radius_is_2_over_epsilon(moved_m):
    """200 m; four standard errors of √2/ε/√n are 4 m."""
    assert np.hypot(*moved_m.T).mean() == pytest.approx(200, abs=4)


def test_radii_follow_the_cdf(moved_m):
    """A distance beyond 1.95/√n has a probability of 0.1 %."""
    assert kstest(np.hypot(*moved_m.T), cdf).statistic < 1.95 / np.sqrt(N)


def test_directions_are_uniform_and_independent_of_the_radius(moved_m):
    angle = np.arctan2(moved_m[:, 1], moved_m[:, 0]) / (2 * np.pi) + 0.5
    assert kstest(angle, "uniform").statistic < 1.95 / np.sqrt(N)
    far = np.hypot(*moved_m.T) > 200
    assert kstest(angle[far], "uniform").statistic < 1.95 / np.sqrt(far.sum())


def test_more_draws_leave_the_first_ones_as_they_are():
    few, many = (draw_m(n, 0.01, np.random.default_rng(3)) for n in (4, 9))
    assert (many[:4] == few).all()


def test_no_draws_are_no_rows():
    assert draw_m(0, 0.01, np.random.default_rng(0)).shape == (0, 2)
