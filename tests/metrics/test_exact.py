from types import SimpleNamespace

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veilmap.errors import UserError
from veilmap.metrics import exact
from veilmap.metrics.exact import exact_emd_m
from veilmap.metrics.transport import emd_m

POINTS = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.just(2)),
    elements=st.integers(-50, 50).map(lambda tens: tens * 10.0),
)


def cloud(n, seed=0, spread_m=500.0):
    return np.random.default_rng(seed).normal(0, spread_m, (n, 2))


def test_two_points_onto_one_by_hand():
    """Half the weight goes 5 m (3 east, 4 north), half stays: 2.5 m."""
    assert exact_emd_m([[0, 0], [3, 4]], [[3, 4]]) == pytest.approx(2.5, abs=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 30), (40, 25), (60, 60)])
def test_it_agrees_with_pot(sizes):
    a, b = cloud(sizes[0]), cloud(sizes[1], seed=1, spread_m=200.0)
    draw = np.random.default_rng(2)
    v, w = (draw.uniform(0, 1, n) ** 4 for n in sizes)
    oracle = ot.emd2(v / v.sum(), w / w.sum(), ot.dist(a, b, "euclidean"))
    assert exact_emd_m(a, b, v, w) == pytest.approx(oracle, rel=1e-9)


# With seed 1309 the solver finds no plan if it is given also the sum that follows from the others.
@pytest.mark.parametrize(
    ("sizes", "power", "seed"), [((4, 10), 15, 1309), *(((30, 50), 10, seed) for seed in range(10))]
)
def test_very_uneven_weights_find_their_plan_too(sizes, power, seed):
    draw, a, b = np.random.default_rng(seed), cloud(sizes[0]), cloud(sizes[1], seed=1)
    v, w = (draw.uniform(0, 1, n) ** power for n in sizes)
    oracle = ot.emd2(v / v.sum(), w / w.sum(), ot.dist(a, b, "euclidean"))
    assert exact_emd_m(a, b, v, w) == pytest.approx(oracle, abs=1e-6)


@given(POINTS)
def test_a_set_is_at_distance_zero_from_itself(a):
    assert exact_emd_m(a, a[::-1]) == 0


def test_a_set_counted_in_other_units_is_at_distance_zero_from_itself():
    a, weights = cloud(30), np.random.default_rng(1).uniform(0, 1, 30)
    assert exact_emd_m(a, a, weights, weights * 0.3) == pytest.approx(0, abs=1e-9)


@settings(max_examples=25)
@given(POINTS, POINTS)
def test_both_ways_cost_the_same_and_the_sliced_distance_is_not_larger(a, b):
    exact = exact_emd_m(a, b)
    assert exact == pytest.approx(exact_emd_m(b, a), abs=1e-9)
    assert emd_m(a, b, projections=50) <= exact + 1e-9


@pytest.mark.parametrize("shift_m", [(300.0, 0.0), (-180.0, 240.0)])
def test_a_shift_costs_its_length(shift_m):
    assert exact_emd_m(cloud(30), cloud(30) + shift_m) == pytest.approx(300, rel=1e-9)


def test_weights_are_repetitions():
    a, b, times = cloud(15), cloud(10, seed=1), np.arange(15) % 4
    repeated = exact_emd_m(np.repeat(a, times, axis=0), b)
    assert exact_emd_m(a, b, a_weights=times) == pytest.approx(repeated, rel=1e-9)


def test_light_points_are_moved_as_exactly_as_heavy_ones():
    """A billionth of the weight goes 1,000 km: 1 mm on average."""
    far = exact_emd_m([[0, 0], [1e6, 0]], [[0, 0]], a_weights=[1 - 1e-9, 1e-9])
    assert far == pytest.approx(1e-3, rel=1e-6)


def test_repeated_positions_are_no_pairs():
    a, b = np.repeat(cloud(3), 1000, axis=0), np.repeat(cloud(2, seed=1), 1000, axis=0)
    assert exact_emd_m(a, b) == pytest.approx(exact_emd_m(a[::1000], b[::1000]), rel=1e-9)


def test_a_position_of_equal_weight_in_both_is_no_pair(monkeypatch):
    """At (9, 9) nothing moves; what is left is one pair, 5 m apart, with half of the weight."""
    monkeypatch.setattr(exact, "MOST_PAIRS", 1)
    assert exact_emd_m([[0, 0], [9, 9]], [[3, 4], [9, 9]]) == pytest.approx(2.5, abs=1e-12)


def test_too_many_pairs_are_sent_to_the_sliced_distance():
    with pytest.raises(UserError, match=r"at most 250,000 .* 501 x 500 = 250,500; .*emd_m"):
        exact_emd_m(cloud(501), cloud(500, seed=1))


def test_a_solver_that_fails_is_no_distance(monkeypatch):
    failed = SimpleNamespace(success=False, message="time limit", fun=None)
    monkeypatch.setattr(exact, "linprog", lambda *_, **__: failed)
    with pytest.raises(UserError, match=r"no exact EMD was found \(time limit\); take the sliced"):
        exact_emd_m(cloud(2), cloud(3, seed=1))


MISUSES = {
    "empty": ((np.zeros((0, 2)), np.zeros((1, 2))), "set 1 of 2 has no points"),
    "not finite": ((np.zeros((1, 2)), [[0, np.nan]]), "set 2 of 2 has 1 positions that are not"),
    "negative": ((np.zeros((1, 2)), np.zeros((1, 2)), [-1]), "weights of set 1 of 2"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_misuse_is_one_line(misuse):
    arguments, message = MISUSES[misuse]
    with pytest.raises(UserError, match=message):
        exact_emd_m(*arguments)
