"""The shares of the parts, by maximum likelihood: Fisher scoring with shares of at least 0.

The rows are draws from N(0, C): minimise log|C| + tr(C⁻¹ S) over the shares θ ≥ 0. First the
multiplicative steps of expectation maximisation, θ_a ← θ_a tr(C⁻¹SC⁻¹B_a)/tr(C⁻¹B_a), which come
near from anywhere; then quadratic problems in the metric of C⁻¹, which converge in a few steps.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from veilmap.attacks.rows.covariance_model import Parts, Target

# What directions and columns must explain more than squares do, to be preferred: both can imitate
# a phone at rest.
_PREFERENCE = 0.1
_WARM_UP = 6
_INNER = 80
_HALVINGS = 5
# The least change of a share in a multiplicative step, and the largest.
_CHANGE = (0.01, 100.0)
_TIMES = (0.2, 5.0)


@dataclass(frozen=True)
class Fit:
    """Shares of all parts, (updates, parts), and of the weights before and after, (updates, 2)."""

    shares: Tensor
    times: Tensor


def likelihood(parts: Parts, target: Target, shares: Tensor) -> Tensor:
    """log|C| + tr(C⁻¹ S), (updates,); lower is better, infinite where rounding ruins C."""
    root, failed = torch.linalg.cholesky_ex(parts.covariance(shares, target.floor))
    solved = torch.cholesky_solve(target.covariance, root).diagonal(dim1=-2, dim2=-1)
    total = (2 * root.diagonal(dim1=-2, dim2=-1).log() + solved).sum(-1)
    return torch.where((failed == 0) & total.isfinite(), total, torch.inf)


def warm_up(parts: Parts, target: Target, shares: Tensor) -> Tensor:
    """Some steps of expectation maximisation."""
    for _ in range(_WARM_UP):
        inverse = torch.linalg.inv_ex(parts.covariance(shares, target.floor)).inverse
        middle = inverse @ target.covariance @ inverse
        seen = parts.traces(middle, parts.forms(middle))
        expected = parts.traces(inverse, parts.forms(inverse))
        shares = shares * _ratio(seen, expected).clamp(*_CHANGE)
    return shares


def scored(parts: Parts, target: Target, fit: Fit, price: Tensor | float = 0.0) -> Fit:
    """One step of Fisher scoring, halved until the likelihood improves.

    The shares of the weights before and after make one multiplicative step beside it. ``price`` is
    what squares must explain more than others do, (updates, squares), relative.
    """
    shares, squares = fit.shares, parts.squares
    inverse = torch.linalg.inv_ex(parts.covariance(shares, target.floor)).inverse
    middle = inverse @ (target.covariance - torch.diag_embed(target.floor)) @ inverse
    seen, expected = parts.forms(middle), parts.forms(inverse)
    prices = parts.traces(inverse, expected)
    prices[:, :squares] *= price
    prices[:, squares:] *= _PREFERENCE
    goal = _least_squares(parts.gram(inverse), parts.traces(middle, seen) - prices, shares)
    before = likelihood(parts, target, shares) + (prices * shares).sum(-1)
    best, step, is_open = shares, 1.0, torch.ones_like(before, dtype=torch.bool)
    for _ in range(_HALVINGS):
        tried = shares + step * (goal - shares)
        now = likelihood(parts, target, tried) + (prices * tried).sum(-1)
        is_better = (now <= before) & now.isfinite()
        best = torch.where((is_open & is_better)[:, None], tried, best)
        is_open = is_open & ~is_better
        if not is_open.any():
            break
        step /= 2
    of_squares = shares[:, None, :squares]
    totals = [(forms[..., :squares] * of_squares).sum(-1) for forms in (seen, expected)]
    times = fit.times * _ratio(*totals).clamp(*_TIMES)
    return Fit(best, times / times.sum(-1, keepdim=True))


def _ratio(seen: Tensor, expected: Tensor) -> Tensor:
    return torch.where(expected > 0, seen / expected.clamp(min=1e-300), 0.0)


def _least_squares(gram: Tensor, goal: Tensor, start: Tensor) -> Tensor:
    """The x ≥ 0 that minimises ½ xᵀGx − gᵀx, by accelerated projected gradients that restart."""
    diagonal = gram.diagonal(dim1=-2, dim2=-1)
    scale = torch.where(diagonal > 0, diagonal.clamp(min=1e-300).rsqrt(), 0.0)
    gram, goal = gram * scale[:, None] * scale[..., None], goal * scale
    x = torch.where(scale > 0, start / scale.clamp(min=1e-300), 0.0)
    bound = _largest_eigenvalue(gram)
    ahead, momentum = x, 1.0
    for _ in range(_INNER):
        slope = (gram @ ahead[..., None])[..., 0] - goal
        following = (ahead - slope / bound).clamp(min=0)
        uphill = ((slope * (following - x)).sum(-1) > 0)[:, None]
        faster = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        push = (momentum - 1) / faster * (following - x)
        ahead = torch.where(uphill, following, following + push)
        x, momentum = following, faster
    return x * scale


def _largest_eigenvalue(gram: Tensor) -> Tensor:
    """An upper bound: no element is negative, so max (Gv)/v bounds it for every v > 0."""
    vector = torch.ones_like(gram[..., 0])
    for _ in range(12):
        vector = (gram @ vector[..., None])[..., 0]
        vector = (vector / vector.amax(-1, keepdim=True)).clamp(min=1e-6)
    turned = (gram @ vector[..., None])[..., 0]
    return (turned / vector).amax(-1, keepdim=True)
