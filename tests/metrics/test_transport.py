from itertools import permutations

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import wasserstein_distance

from veilmap.errors import UserError
from veilmap.metrics import transport
from veilmap.metrics.transport import emd_m, emd_paper, emds_m, pairwise_emd_m

POINTS = arrays(
    np.float64,
    st.tuples(st.integers(1, 8), st.just(2)),
    elements=st.integers(-50, 50).map(lambda tens: tens * 10.0),
)


def cloud(n, seed=0, spread_m=500.0):
    return np.random.default_rng(seed).normal(0, spread_m, (n, 2))


def directions(projections):
    angles = np.pi * np.arange(projections) / projections
    return np.stack([np.cos(angles), np.sin(angles)])


@given(POINTS)
def test_a_set_is_at_distance_zero_from_itself(a):
    assert emd_m(a, a[::-1], projections=8) == 0


@given(POINTS, POINTS)
def test_both_ways_cost_the_same(a, b):
    assert emd_m(a, b, projections=8) == emd_m(b, a, projections=8)


@given(POINTS, POINTS, POINTS)
def test_a_detour_is_never_shorter(a, b, c):
    table = pairwise_emd_m([a, b, c], projections=8)
    for i, j, k in permutations(range(3)):
        assert table[i, k] <= table[i, j] + table[j, k] + 1e-9


@pytest.mark.parametrize("shift_m", [(300.0, 0.0), (0.0, 300.0), (-180.0, 240.0)])
def test_a_shift_costs_its_length_times_2_over_pi(shift_m):
    a = cloud(200)
    assert emd_m(a, a + shift_m) == pytest.approx(300 * 2 / np.pi, rel=1e-5)


def test_the_mean_over_east_and_north_by_hand():
    """East: 0 and 4 to 1 costs (1 + 3) / 2 = 2; north: 0 and 0 to 5 costs 5; the mean is 3.5."""
    assert emd_m([[0, 0], [4, 0]], [[1, 5]], projections=2) == pytest.approx(3.5, abs=1e-12)


def test_weights_are_repetitions():
    a, b, times = cloud(30), cloud(20, seed=1), np.arange(30) % 4
    assert emd_m(a, b, a_weights=times) == pytest.approx(
        emd_m(np.repeat(a, times, axis=0), b), rel=1e-12
    )
    assert emd_m(b, a, b_weights=times * 0.01) == pytest.approx(emd_m(a, b, times), rel=1e-12)


def test_on_a_line_it_is_the_exact_distance_times_the_mean_projection():
    draw = np.random.default_rng(0)
    a, b, weights = draw.normal(0, 100, 50), draw.normal(30, 50, 70), draw.uniform(0, 1, 70)
    exact = wasserstein_distance(a, b, v_weights=weights)
    line = np.array([0.6, 0.8])
    sliced = emd_m(np.outer(a, line), np.outer(b, line), b_weights=weights)
    assert sliced == pytest.approx(exact * 2 / np.pi, rel=1e-5)
    assert emd_m(
        np.outer(a, [1, 0]), np.outer(b, [1, 0]), b_weights=weights, projections=1
    ) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 40), (300, 11), (200, 200)])
def test_it_agrees_with_pot(sizes):
    a, b = cloud(sizes[0]), cloud(sizes[1], seed=1, spread_m=200.0)
    weights = np.random.default_rng(2).uniform(0, 1, sizes[0])
    expected = ot.sliced_wasserstein_distance(
        a, b, weights / weights.sum(), p=1, projections=directions(1000)
    )
    assert emd_m(a, b, weights) == pytest.approx(expected, abs=1e-9)


@given(POINTS, POINTS)
def test_it_is_at_most_the_exact_distance(a, b):
    exact = ot.emd2([], [], ot.dist(a, b, "euclidean"))
    assert emd_m(a, b, projections=50) <= exact + 1e-9


def test_the_place_on_earth_changes_nothing():
    a, b = cloud(300).round(3), cloud(200, seed=1).round(3)
    far = np.array([500_000.0, 5_700_000.0])
    assert emd_m(a + far, b + far) == pytest.approx(emd_m(a, b), abs=1e-7)


def test_blocks_change_nothing(monkeypatch):
    a, b = cloud(50), cloud(7, seed=1)
    whole = emd_m(a, b)
    monkeypatch.setattr(transport, "BLOCK_VALUES", 1)
    assert emd_m(a, b) == pytest.approx(whole, rel=1e-13)


@given(arrays(np.float64, (3, 60), elements=st.floats(-1e6, 1e6)))
def test_the_sorting_order_sorts(rows):
    ordered = np.take_along_axis(rows, transport.sorting_order(rows), axis=1)
    assert (ordered == np.sort(rows, axis=1)).all()


def test_the_matrix_holds_every_pair():
    sets = [cloud(n, seed=n) for n in (1, 5, 30, 80)]
    table = pairwise_emd_m(sets, projections=50)
    one_by_one = [[emd_m(a, b, projections=50) for b in sets] for a in sets]
    np.testing.assert_allclose(table, one_by_one, rtol=1e-12)
    assert (table == table.T).all()
    assert pairwise_emd_m(sets[:1], projections=50).tolist() == [[0.0]]


def test_all_ways_to_ask_look_in_the_same_thousand_directions():
    a, b = cloud(20), cloud(30, seed=1)
    thousand = emd_m(a, b, projections=1000)
    assert emd_m(a, b) == thousand
    assert emds_m(a, [b]) == [thousand]
    assert emd_paper(a, b) == np.sqrt(thousand)
    assert pairwise_emd_m([a, b])[0, 1] == thousand


def test_the_number_of_the_paper_is_the_square_root_of_metres():
    assert emd_paper([[0, 0]], [[844, 0]]) == pytest.approx(23.2, abs=0.05)


GOOD = np.zeros((2, 2))
MISUSES = {
    "empty": ((GOOD, np.zeros((0, 2))), "set 2 of 2 has no points"),
    "flat": ((np.zeros(4), GOOD), r"one row \(x, y\) per point, got shape \(4,\)"),
    "three columns": ((GOOD, np.zeros((4, 3))), r"set 2 of 2 .* got shape \(4, 3\)"),
    "a number": ((5.0, GOOD), r"got shape \(\)"),
    "not finite": ((np.array([[0, np.nan]]), GOOD), "set 1 of 2 has 1 non-finite position"),
    "negative": ((GOOD, GOOD, [2, -1]), "weights of set 1 of 2 .* got -1 to 2"),
    "no weight": ((GOOD, GOOD, None, [0, 0]), "not all 0, got 0 to 0"),
    "infinite weight": ((GOOD, GOOD, [1, np.inf]), "must be finite"),
    "weights of others": ((GOOD, GOOD, [1, 1, 1]), r"got shape \(3,\) for 2 points"),
    "no direction": ((GOOD, GOOD, None, None, 0), "projections must be at least 1, got 0"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_is_one_line(misuse):
    arguments, message = MISUSES[misuse]
    with pytest.raises(UserError, match=message):
        emd_m(*arguments)


def test_no_set_at_all_is_an_error():
    with pytest.raises(UserError, match="at least one set"):
        pairwise_emd_m([])
