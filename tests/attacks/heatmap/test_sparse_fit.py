import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from veilmap.attacks.heatmap.sparse_fit import sparse_fit


def make_problem(seed, rows=30, columns=10):
    draw = np.random.default_rng(seed)
    design, goal = draw.normal(size=(rows, columns)), draw.normal(size=rows)
    return design, goal, design.T @ design, design.T @ goal


def descend(gram, b, penalty, signed, sweeps=3000):
    """Coordinate descent on cᵀKc − 2cᵀb + 2λ Σ|c|, as plain as it can be."""
    c = np.zeros(len(b))
    for _ in range(sweeps):
        for i in range(len(b)):
            free = b[i] - gram[i] @ c + gram[i, i] * c[i]
            shrunk = np.sign(free) * max(abs(free) - penalty, 0.0)
            c[i] = (shrunk if signed else max(shrunk, 0.0)) / gram[i, i]
    return c


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("shape", [(30, 10), (8, 8), (6, 20)], ids=["tall", "square", "wide"])
def test_without_penalty_it_is_nnls(seed, shape):
    """A wide problem has many minimisers; what they explain is the same."""
    design, goal, gram, b = make_problem(seed, *shape)
    found, expected = sparse_fit(gram, b), nnls(design, goal)[0]
    assert (found >= 0).all()
    np.testing.assert_allclose(design @ found, design @ expected, atol=1e-6)
    if shape == (30, 10):
        np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("penalty", [0.1, 3.0])
def test_with_a_penalty_it_is_coordinate_descent(seed, signed, penalty):
    _, _, gram, b = make_problem(seed)
    found = sparse_fit(gram, b, penalty, signed=signed)
    np.testing.assert_allclose(found, descend(gram, b, penalty, signed, 300), atol=1e-7)
    assert (found < 0).any() == signed


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 25),
    columns=st.integers(1, 15),
    share=st.sampled_from([0.0, 1e-3, 0.1, 0.9, 2.0]),
    signed=st.booleans(),
)
def test_the_conditions_of_kuhn_and_tucker_hold(seed, rows, columns, share, signed):
    _, _, gram, b = make_problem(seed, rows, columns)
    penalty = share * np.abs(b).max()
    c = sparse_fit(gram, b, penalty, signed=signed)
    slope, slack = b - gram @ c, 1e-6 * np.abs(b).max()
    active = c != 0
    np.testing.assert_allclose(slope[active], penalty * np.sign(c[active]), atol=slack)
    if signed:
        assert (np.abs(slope) <= penalty + slack).all()
    else:
        assert (slope <= penalty + slack).all()
        assert (c >= 0).all()


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), other=st.integers(0, 10**6), signed=st.booleans())
def test_a_warm_start_changes_nothing(seed, other, signed):
    _, _, gram, b = make_problem(seed)
    start = sparse_fit(gram, make_problem(other)[3], 0.5, signed=signed)
    kept = start.copy()
    warm = sparse_fit(gram, b, 1.0, signed=signed, start=start)
    np.testing.assert_allclose(warm, sparse_fit(gram, b, 1.0, signed=signed), atol=1e-7)
    np.testing.assert_array_equal(start, kept)


@pytest.mark.parametrize("signed", [True, False])
def test_nothing_to_explain_takes_nothing(signed):
    _, _, gram, _ = make_problem(0)
    assert not sparse_fit(gram, np.zeros(10), signed=signed).any()
    assert sparse_fit(np.zeros((0, 0)), np.zeros(0), signed=signed).shape == (0,)


def test_one_column_is_a_quotient():
    """(b − λ) / K = (6 − 2) / 4 = 1; −6 is out of reach without a sign, −1 with it."""
    gram = np.array([[4.0]])
    assert sparse_fit(gram, np.array([6.0]), 2.0) == pytest.approx([1.0])
    assert sparse_fit(gram, np.array([-6.0]), 2.0).tolist() == [0.0]
    assert sparse_fit(gram, np.array([-6.0]), 2.0, signed=True) == pytest.approx([-1.0])


@pytest.mark.parametrize("signed", [True, False])
def test_the_same_column_twice_explains_what_it_explains_once(signed):
    design, _, gram, b = make_problem(4)
    twice = np.hstack([design, design])
    both = np.concatenate([b, b])
    found = sparse_fit(twice.T @ twice, both, 0.5, signed=signed)
    once = sparse_fit(gram, b, 0.5, signed=signed)
    np.testing.assert_allclose(found[:10] + found[10:], once, atol=1e-6)
