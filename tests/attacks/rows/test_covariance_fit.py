"""The model of the covariance and its fit, against brute force."""

import numpy as np
import pytest
import torch

from veilmap.attacks.rows.covariance_fit import Fit, likelihood, scored, warm_up
from veilmap.attacks.rows.covariance_model import Parts, Target

UPDATES, TIMES, SQUARES, DIRECTIONS, COLUMNS = 2, 2, 5, 2, 6
EVEN = torch.full((UPDATES, TIMES), 0.5, dtype=torch.float64)


def some_parts(seed=0, has_noise=True) -> Parts:
    draw = np.random.default_rng(seed)
    ranks = draw.normal(size=(UPDATES, TIMES, SQUARES + DIRECTIONS, COLUMNS))
    diagonals = draw.uniform(size=(UPDATES, SQUARES, COLUMNS))
    noise = torch.full((UPDATES, 1), float(has_noise), dtype=torch.float64)
    return Parts(torch.from_numpy(ranks), torch.from_numpy(diagonals), noise)


def explicit(parts: Parts, update: int) -> np.ndarray:
    """Every part as a matrix."""
    made = []
    for number in range(parts.ranks.shape[2]):
        ranks = parts.ranks[update, :, number].numpy()
        made.append(ranks.T @ ranks)
        if number < SQUARES:
            made[-1] = made[-1] + np.diag(parts.diagonals[update, number].numpy())
    for column in range(COLUMNS):
        single = np.zeros((COLUMNS, COLUMNS))
        single[column, column] = float(parts.has_noise[update])
        made.append(single)
    return np.array(made)


def shares_of(parts: Parts, seed=1) -> torch.Tensor:
    count = parts.squares + parts.others
    draw = np.random.default_rng(seed).uniform(0.1, 1, (UPDATES, count))
    return torch.from_numpy(draw)


def target_of(covariance: torch.Tensor, floor=0.05) -> Target:
    ones = torch.ones(UPDATES, COLUMNS, dtype=torch.float64)
    return Target(covariance, ones, floor * ones, torch.zeros(UPDATES, 0, COLUMNS))


@pytest.mark.parametrize("has_noise", [True, False])
def test_covariance_traces_and_gram_are_those_of_the_matrices(has_noise):
    parts = some_parts(has_noise=has_noise)
    shares, floor = shares_of(parts), torch.full((UPDATES, COLUMNS), 0.05, dtype=torch.float64)
    whole = parts.covariance(shares, floor)
    inverse = torch.linalg.inv(whole)
    for update in range(UPDATES):
        each, own = explicit(parts, update), shares[update].numpy()
        np.testing.assert_allclose(
            whole[update], np.tensordot(own, each, 1) + 0.05 * np.eye(COLUMNS), rtol=1e-12
        )
        inverted = inverse[update].numpy()
        np.testing.assert_allclose(
            parts.traces(inverse, parts.forms(inverse))[update],
            [np.trace(inverted @ part) for part in each],
            atol=1e-12,
        )
        pairs = [[np.trace(inverted @ a @ inverted @ b) for b in each] for a in each]
        np.testing.assert_allclose(parts.gram(inverse)[update], pairs, rtol=1e-9, atol=1e-12)


def test_the_likelihood_is_that_of_normal_rows():
    parts = some_parts()
    shares, target = (
        shares_of(parts),
        target_of(torch.eye(COLUMNS).double().expand(UPDATES, -1, -1)),
    )
    for update, found in enumerate(likelihood(parts, target, shares).tolist()):
        whole = parts.covariance(shares, target.floor)[update].numpy()
        direct = np.linalg.slogdet(whole)[1] + np.trace(np.linalg.inv(whole))
        assert found == pytest.approx(direct)


def test_shares_of_a_sum_of_squares_are_found_again():
    parts = some_parts(has_noise=False)
    true = torch.zeros(UPDATES, parts.squares + parts.others, dtype=torch.float64)
    true[:, 1], true[:, 3] = 2.0, 0.7
    target = target_of(parts.covariance(true, torch.full((UPDATES, COLUMNS), 0.05).double()))
    shares = warm_up(parts, target, torch.full_like(true, 0.5))
    for _ in range(20):
        shares = scored(parts, target, Fit(shares, EVEN)).shares
    np.testing.assert_allclose(shares[:, :SQUARES], true[:, :SQUARES], atol=0.02)


def test_no_step_of_scoring_makes_the_likelihood_worse():
    parts = some_parts()
    draw = torch.from_numpy(np.random.default_rng(2).normal(size=(UPDATES, 20, COLUMNS)))
    target, shares = target_of(draw.mT @ draw / 20), shares_of(parts)
    parts = Parts(parts.ranks[:, :, :SQUARES], parts.diagonals, 0 * parts.has_noise)
    shares = shares[:, : SQUARES + COLUMNS]
    worst = likelihood(parts, target, shares)
    for _ in range(5):
        shares = scored(parts, target, Fit(shares, EVEN)).shares
        now = likelihood(parts, target, shares)
        assert (now <= worst + 1e-9).all()
        assert (shares >= 0).all()
        worst = now


def test_a_covariance_that_rounding_ruins_is_no_error():
    """One part is 1e30 times the floor: C has no factors in float64."""
    parts = some_parts(has_noise=False)
    huge = torch.zeros(UPDATES, parts.squares + parts.others, dtype=torch.float64)
    huge[:, 5] = 1e30
    target = target_of(torch.eye(COLUMNS).double().expand(UPDATES, -1, -1), floor=1.0)
    assert likelihood(parts, target, huge).isinf().all()
    assert scored(parts, target, Fit(huge, EVEN)).shares.isfinite().all()


def test_directions_are_not_preferred_to_squares_that_explain_as_much():
    """A direction that equals a square's activations: without a price both would share."""
    draw = np.random.default_rng(3).normal(size=(UPDATES, TIMES, 1, COLUMNS))
    draw[:, 1] = draw[:, 0]
    ranks = torch.from_numpy(np.concatenate([draw, draw], 2))
    parts = Parts(
        ranks, torch.zeros(UPDATES, 1, COLUMNS).double(), torch.zeros(UPDATES, 1).double()
    )
    true = torch.zeros(UPDATES, 2 + COLUMNS).double()
    true[:, 1] = 1.0
    target = target_of(parts.covariance(true, torch.full((UPDATES, COLUMNS), 0.05).double()))
    shares = warm_up(parts, target, torch.full_like(true, 0.5))
    for _ in range(8):
        shares = scored(parts, target, Fit(shares, EVEN)).shares
    assert (shares[:, 0] > 10 * shares[:, 1]).all()
