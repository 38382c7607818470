from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from veilmap.attacks.heatmap import batched_sparse_fit
from veilmap.attacks.heatmap.batched_sparse_fit import sparse_fits
from veilmap.attacks.heatmap.fit import fit
from veilmap.attacks.heatmap.normal_equations import Equations
from veilmap.attacks.heatmap.sparse_fit import sparse_fit


def make_equations(seed, *, updates=4, candidates=12, shared=True, rows=30):
    """K = w_0 K_0 + w_1 K_1 with weights of each update; the first one has nothing to explain."""
    draw = np.random.default_rng(seed)
    design = draw.normal(size=(1 if shared else updates, 2, rows, candidates))
    kernels, weights = design.swapaxes(2, 3) @ design, draw.uniform(0.1, 2, (updates, 2))
    b = np.einsum(
        "ukrc,ukr->uc", design * weights[:, :, None, None], draw.normal(size=(updates, 2, rows))
    )
    b[0] = 0.0
    real = np.ones((1, candidates), bool)
    arrays = (kernels, weights, b, np.ones(updates), real)
    kernels, weights, b, total, real = (torch.from_numpy(each) for each in arrays)
    return Equations(kernels, (0, 1), weights, b, total, real)


def one_by_one(equations, penalties, *, signed, start=None):
    """Each update by ``sparse_fit``, its penalties one after the other."""
    everything = torch.arange(equations.b.shape[1]).expand(equations.b.shape)
    grams, b = equations.rows(everything).numpy(), equations.b.numpy()
    found = np.zeros((*penalties.shape, b.shape[1]))
    for i, gram in enumerate(grams):
        last = None if start is None else start[i].numpy()
        for k, penalty in enumerate(penalties[i].tolist()):
            found[i, k] = last = sparse_fit(gram, b[i], penalty, signed=signed, start=last)
    return found


def objective(equations, penalties, c):
    """cᵀKc − 2cᵀb + 2λ Σ|c|."""
    everything = torch.arange(equations.b.shape[1]).expand(equations.b.shape)
    gram = equations.rows(everything).numpy()
    bent = np.einsum("ukc,ucd,ukd->uk", c, gram, c)
    down = np.einsum("ukc,uc->uk", c, equations.b.numpy())
    return bent - 2 * down + 2 * penalties.numpy() * np.abs(c).sum(-1)


@settings(max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1),
    candidates=st.integers(1, 15),
    shared=st.booleans(),
    signed=st.booleans(),
    warm=st.booleans(),
    group=st.sampled_from([1, 2, 64]),
)
def test_fits_together_are_those_of_each(seed, candidates, shared, signed, warm, group):
    """The same columns with the same coefficients, for every penalty on the way."""
    equations = make_equations(seed, candidates=candidates, shared=shared)
    largest = equations.b.abs().amax(1, keepdim=True)
    penalties = largest * torch.tensor([0.5, 0.1, 1e-3], dtype=torch.float64)
    start = None
    if warm:
        other = make_equations(seed + 1, candidates=candidates, shared=shared)
        start = torch.from_numpy(one_by_one(other, penalties[:, :1], signed=signed)[:, 0])
    expected = one_by_one(equations, penalties, signed=signed, start=start)
    with patch.object(batched_sparse_fit, "LEAST_GROUP", group):
        found = sparse_fits(equations, penalties, signed=signed, start=start).numpy()
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("signed", [True, False])
def test_columns_that_are_nearly_the_same_are_explained_as_well(signed):
    """A wide problem of 60 columns in 10 dimensions has many minimisers, all with one objective."""
    equations = make_equations(3, updates=6, candidates=60, shared=False, rows=5)
    penalties = 1e-3 * equations.b.abs().amax(1, keepdim=True)
    expected = objective(equations, penalties, one_by_one(equations, penalties, signed=signed))
    found = sparse_fits(equations, penalties, signed=signed).numpy()
    np.testing.assert_allclose(objective(equations, penalties, found), expected, rtol=1e-8)


def test_those_that_are_finished_leave_and_the_others_continue():
    """One update of 40 has hundreds of steps to take, the others one."""
    equations = make_equations(0, updates=40, candidates=60, shared=True, rows=100)
    equations.b[1:] = torch.eye(60, dtype=torch.float64)[0]
    equations.b[7] = make_equations(1, updates=8, candidates=60, rows=100).b[7]
    penalties = equations.b.abs().amax(1, keepdim=True) * torch.tensor([0.01, 0.0])
    expected = one_by_one(equations, penalties, signed=False)
    assert (expected[7, 1] > 0).sum() > 20
    found = sparse_fits(equations, penalties, signed=False)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_a_column_that_cannot_be_solved_for_is_left_out():
    """The steepest one has a negative K_jj, as rounding may make it; it is as if it were not."""
    equations = make_equations(2, candidates=6)
    whole = one_by_one(
        replace(equations, kernels=equations.kernels[..., 1:, 1:], b=equations.b[:, 1:]),
        torch.zeros(4, 1),
        signed=False,
    )
    equations.kernels[..., 0, 0] = -1.0
    equations.b[1:, 0] = 2 * equations.b.abs().max()
    found = sparse_fits(equations, torch.zeros(4, 1, dtype=torch.float64), signed=False)
    assert not found[..., 0].any()
    np.testing.assert_allclose(found[..., 1:], whole, rtol=1e-7)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_one_sign_is_that_of_most_of_b(signed, turn):
    """A fit to −b is the fit to b turned around; several updates are as each."""
    equations = make_equations(5, shared=False)
    equations.b.mul_(turn)
    penalties = torch.tensor([[0.1, 0.01]], dtype=torch.float64).expand(4, -1)
    together = fit(equations, penalties, signed=signed)
    for i in range(4):
        alone = fit(equations.keep(torch.tensor([i])), penalties[:1], signed=signed)
        np.testing.assert_allclose(together[i], alone[0], rtol=1e-7, atol=1e-12)
        if not signed:
            assert (together[i] * equations.b[i].sum() >= 0).all()
    assert (together != 0).any()
