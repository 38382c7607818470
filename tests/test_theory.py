from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from veilmap import theory
from veilmap.local_data import Scaler
from veilmap.model import reference, training
from veilmap.model.network import ACTIVATION_NAMES, Network
from veilmap.streams import stream

SCALER = Scaler((500_000.0, 4_000_000.0), (300.0, 450.0))
layer = st.tuples(st.integers(1, 9), st.sampled_from(ACTIVATION_NAMES), st.sampled_from([0.0, 0.2]))
networks = st.lists(layer, min_size=1, max_size=3).map(
    lambda layers: Network(*(tuple(column) for column in zip(*layers, strict=True)), "pytorch")
)
cases = given(networks, st.integers(1, 30), st.integers(0, 1000))


def batch(rows, seed=0):
    """The centre and the spread differ from seed to seed, so that some batches nearly converged."""
    draw = np.random.default_rng(seed)
    return (
        draw.normal(0, 1.5, (rows, 2)).astype(np.float32),
        draw.normal(draw.uniform(-90, 0), draw.uniform(0, 8), rows).astype(np.float32),
    )


def g_of(network, mini_batch, seed=0):
    return training.bias_gradients(network, network.initialise(seed), mini_batch)


@settings(max_examples=60)
@cases
def test_the_fast_bias_gradients_equal_automatic_differentiation(network, rows, seed):
    (x, y), weights = batch(rows, seed), network.initialise(seed)
    each = [reference.gradient(network, weights, (x[i : i + 1], y[i : i + 1])) for i in range(rows)]
    slow = np.array([network.layers(flat)[0][1] for flat in each])
    fast = training.bias_gradients(network, weights, (x, y))
    np.testing.assert_allclose(fast, slow, rtol=1e-5, atol=1e-5 * np.abs(slow).max())


def test_bias_gradients_of_a_batch_larger_than_a_block_are_those_of_its_parts():
    network, (x, y) = Network((8, 5), ("tanh", "elu"), (0, 0)), batch(training.BLOCK_ROWS + 11)
    parts = [g_of(network, (x[part], y[part])) for part in (slice(0, 5000), slice(5000, None))]
    np.testing.assert_allclose(g_of(network, (x, y)), np.concatenate(parts), rtol=1e-4, atol=1e-4)


@settings(max_examples=60)
@cases
def test_lemma_1_is_the_ratio_of_the_summed_gradients(network, rows, seed):
    """ΔW1[h] = Δb1[h] · x_DLG, to the rounding of what was summed up."""
    (x, y), weights = batch(rows, seed), network.initialise(seed)
    g = training.bias_gradients(network, weights, (x, y))
    leaked_matrix, leaked_bias = network.layers(training.gradient(network, weights, (x, y)))[0]
    usable = g.mean(axis=0, dtype=np.float64) != 0
    explained = (leaked_bias[:, None] * theory.lemma_1(x, g))[usable]
    # Where Δb1 cancels, its rounding is blown up by how far away x_DLG is.
    far = 1 + np.abs(theory.lemma_1(x, g)[usable]).max(initial=0)
    np.testing.assert_allclose(
        explained, leaked_matrix[usable], rtol=1e-4, atol=1e-5 * far * np.abs(g).max() + 1e-30
    )


def test_lemma_1_and_theorem_1_by_hand():
    """With g = 1, 3 at x = 0 and 4: x_DLG = 3, x̄ = 2, so 1 apart; (1+1+4+4) / (2·2·2) = 1.25."""
    xy, g = np.array([[0.0, 7.0], [4.0, 7.0]]), np.array([[1.0], [3.0]])
    assert theory.lemma_1(xy, g).tolist() == [[3, 7]]
    assert theory.theorem_1_error(xy, g).tolist() == [1]
    assert theory.theorem_1_bound(xy, g).tolist() == [1.25]


def test_theorem_2_by_hand():
    """As above with labels 0 and 3: 5 apart, so L = 2/5 and α = 1 + 25/8.

    L²/(B|ḡ|) = 0.16/4 and Σ(α·4 + 2.25) over two points = 37.5, hence 1.5.
    """
    xy, g = np.array([[0.0, 7.0], [4.0, 7.0]]), np.array([[1.0], [3.0]])
    labels = np.array([0.0, 3.0])
    steepness = theory.lipschitz(xy, labels, g)
    assert steepness == pytest.approx([0.4])
    assert theory.theorem_2_bound(xy, labels, g, steepness) == pytest.approx([1.5])


@settings(max_examples=80)
@cases
def test_the_exact_error_is_the_distance_and_both_bounds_hold(network, rows, seed):
    x, y = batch(rows, seed)
    g = g_of(network, (x, y), seed)
    g = g[:, g.mean(axis=0, dtype=np.float64) != 0]
    error = theory.theorem_1_error(x, g)
    apart = np.linalg.norm(theory.lemma_1(x, g) - x.mean(axis=0, dtype=np.float64), axis=1)
    np.testing.assert_allclose(error, apart, rtol=1e-6, atol=1e-9)
    slack = 1e-9 + 1e-6 * error
    assert (error <= theory.theorem_1_bound(x, g) + slack).all()
    L = theory.lipschitz(x, y, g)
    assert (error <= theory.theorem_2_bound(x, y, g, L) + slack).all()
    assert (theory.theorem_1_bound(x, g) <= theory.theorem_2_bound(x, y, g, L) * (1 + 1e-6)).all()


@settings(max_examples=30)
@cases
def test_the_prediction_lies_within_its_bounds_and_has_no_nan(network, rows, seed):
    predicted = theory.predict_error(network, network.initialise(seed), batch(rows, seed), SCALER)
    if predicted is None:
        return
    # A standardised unit is between 300 and 450 m, and medians keep the order of each unit.
    assert predicted.error_m / 450 <= predicted.bound_1_std * (1 + 1e-6) + 1e-9
    assert predicted.bound_1_std <= predicted.bound_2_std * (1 + 1e-6) + 1e-9
    assert np.isfinite(predicted.x_dlg_m).all()
    assert 1 <= predicted.units <= network.hidden[0]


def test_one_point_is_found_exactly_and_has_no_error():
    one = batch(1)
    predicted = theory.predict_error(Network(), Network().initialise(0), one, SCALER)
    assert (predicted.error_m, predicted.bound_1_std, predicted.bound_2_std) == (0, 0, 0)
    assert predicted.x_dlg_m == pytest.approx(SCALER.metres(one[0])[0], abs=1e-6)


def test_equal_points_are_found_whatever_their_labels():
    """Three points at one place: g differs with the label, the location does not."""
    x = np.full((3, 2), 0.7, np.float32)
    same = (x, np.full(3, -9.0, np.float32))
    predicted = theory.predict_error(Network(), Network().initialise(0), same, SCALER)
    assert predicted.error_m == pytest.approx(0, abs=1e-6)
    assert predicted.bound_1_std == pytest.approx(0, abs=1e-6)
    other = (x, np.array([-9.0, -5.0, -1.0], np.float32))
    predicted = theory.predict_error(Network(), Network().initialise(0), other, SCALER)
    assert predicted.error_m == pytest.approx(0, abs=1e-6)
    assert predicted.bound_1_std > 0
    assert predicted.x_dlg_m == pytest.approx(SCALER.metres(x)[0], abs=1e-6)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_gradient_that_says_nothing_predicts_nothing(value):
    mini_batch = batch(4)
    assert theory.predict_error_of(np.full((4, 3), value), mini_batch, SCALER) is None


def test_a_batch_without_points_predicts_nothing():
    assert theory.predict_error(Network(), Network().initialise(0), batch(0), SCALER) is None


def test_units_that_say_nothing_are_left_out():
    """The second unit is dead, the gradients of the third cancel: the first alone speaks."""
    x, y = batch(2)
    g = np.array([[1.0, 0.0, 2.0], [3.0, 0.0, -2.0]])
    predicted = theory.predict_error_of(g, (x, y), SCALER)
    assert predicted.units == 1
    assert predicted.x_dlg_m == pytest.approx(SCALER.metres((x[0] + 3 * x[1]) / 4), abs=1e-3)
    assert np.isnan(theory.lemma_1(x, g)[1:]).all()


def test_units_weigh_by_their_mean_gradient():
    """Means 1 and −3; x_DLG at 0 and 4 of the first axis, so the mean is 3 and the median far."""
    x = np.array([[0.0, 0.0], [4.0, 0.0]], np.float32)
    g = np.array([[2.0, 0.0], [0.0, -6.0]])
    predicted = theory.predict_error_of(
        g, (x, np.zeros(2, np.float32)), Scaler((100.0, 0.0), (10.0, 10.0))
    )
    assert predicted.x_dlg_m == pytest.approx([130, 0])
    # Both are 2 from the centroid; the bounds are (1 + 4)/2 and (9 + 4)/(2·3).
    assert predicted.error_m == pytest.approx(20)
    assert predicted.bound_1_std == pytest.approx(13 / 6)
    assert predicted.bound_2_std >= predicted.bound_1_std


def test_the_median_is_where_half_of_the_weight_is_reached():
    values = np.array([5.0, 1.0, 3.0])
    assert theory.weighted_median(values, np.array([1.0, 1.0, 1.0])) == 3
    assert theory.weighted_median(values, np.array([9.0, 1.0, 1.0])) == 5


def test_the_lipschitz_constant_is_the_steepest_of_all_pairs(monkeypatch):
    (x, y), g = batch(40), np.random.default_rng(1).normal(0, 1, (40, 5))
    points = np.column_stack([x, y])
    steep = [
        np.abs(g[i] - g[j]) / np.linalg.norm(points[i] - points[j])
        for i in range(40)
        for j in range(i)
    ]
    exact = theory.lipschitz(x, y, g)
    np.testing.assert_allclose(exact, np.max(steep, axis=0), rtol=1e-5)
    np.testing.assert_array_equal(theory.lipschitz(x, y, g, stream(0, "pairs")), exact)
    monkeypatch.setattr(theory, "MOST_PAIRS", 60)
    monkeypatch.setattr(theory, "PAIRS_AT_ONCE", 20)
    drawn = [theory.lipschitz(x, y, g, stream(seed, "pairs")) for seed in (0, 0, 1)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    assert all((each > 0).all() and (each <= exact).all() for each in drawn)


def pairs_of(points, generator=None):
    rows = np.arange(points)
    blocks = [
        np.broadcast_arrays(rows[a], rows[b]) for a, b in theory.point_pairs(points, generator)
    ]
    return [
        pair for block in blocks for pair in zip(*(each.tolist() for each in block), strict=True)
    ]


def test_few_pairs_are_each_looked_at_once_and_all_of_them_without_a_generator(monkeypatch):
    """Four points have six pairs, which are not too many."""
    monkeypatch.setattr(theory, "MOST_PAIRS", 6)
    assert pairs_of(4, stream(0, "pairs")) == list(combinations(range(4), 2))
    assert pairs_of(5) == list(combinations(range(5), 2))


@pytest.mark.parametrize(("at_once", "drawn"), [(3, 9), (4, 12)])
def test_of_many_pairs_so_many_are_drawn_in_whole_blocks(monkeypatch, at_once, drawn):
    """Five points have ten pairs, more than nine."""
    monkeypatch.setattr(theory, "MOST_PAIRS", 9)
    monkeypatch.setattr(theory, "PAIRS_AT_ONCE", at_once)
    assert len(pairs_of(5, stream(0, "pairs"))) == drawn


def test_drawn_pairs_are_of_any_two_points_and_never_of_one_with_itself(monkeypatch):
    monkeypatch.setattr(theory, "MOST_PAIRS", 2000)
    monkeypatch.setattr(theory, "PAIRS_AT_ONCE", 2000)
    first, second = np.array(pairs_of(100, stream(0, "pairs"))).T
    assert {*first.tolist()} == {*range(100)}
    assert {*((second - first) % 100).tolist()} == {*range(1, 100)}


def test_the_number_of_threads_changes_no_bit():
    draw = np.random.default_rng(0)
    xy, g = draw.normal(size=(1500, 2)), draw.normal(size=(1500, 224))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(theory.theorem_1_error(xy, g).tobytes())
    assert found[0] == found[1]


def test_theorem_1_alone_is_the_same_without_the_second_bound():
    draw = np.random.default_rng(3)
    mini_batch = draw.normal(size=(30, 2)).astype(np.float32), draw.normal(size=30)
    g = draw.normal(size=(30, 5)) + 1
    both, first = (
        theory.predict_error_of(g, mini_batch, Scaler((0.0, 0.0), (500.0, 400.0)), theorem_2=each)
        for each in (True, False)
    )
    assert both.bound_2_std >= both.bound_1_std
    assert first.bound_2_std is None
    network = Network((4,), ("tanh",), (0,))
    alone = theory.predict_error(network, network.initialise(0), batch(5), SCALER, theorem_2=False)
    assert alone.bound_2_std is None
    assert (first.error_m, first.bound_1_std) == (both.error_m, both.bound_1_std)
