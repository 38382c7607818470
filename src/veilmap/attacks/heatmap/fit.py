"""The fit of a heat map: in numpy for a single update, batched for many."""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.heatmap.batched_sparse_fit import sparse_fits
from veilmap.attacks.heatmap.normal_equations import Equations
from veilmap.attacks.heatmap.sparse_fit import sparse_fit


def fit(
    equations: Equations, penalties: Tensor, *, signed: bool, start: Tensor | None = None
) -> Tensor:
    """Fit with one common sign, plus or minus, or with a sign per coefficient.

    Args:
        equations: of each update.
        penalties: λ relative to the largest |b|, (updates, penalties), from few terms to many; each
            solution starts the next fit.
        signed: allow both signs in one solution.
        start: the solution of a similar problem, (updates, candidates).

    Returns:
        (updates, penalties, candidates).
    """
    b = equations.b
    minus = (b.sum(1, keepdim=True) < 0) & (not signed)
    sign = torch.where(minus, -1.0, 1.0).to(b.dtype)
    turned = replace(equations, b=sign * b)
    absolute = penalties * b.abs().amax(1, keepdim=True)
    start = None if start is None else sign * start
    # The small products of a single update are faster in numpy.
    alone = len(b) == 1 and b.device.type == "cpu"
    solve = _fit_alone if alone else sparse_fits
    return sign[..., None] * solve(turned, absolute, signed=signed, start=start)


def _fit_alone(
    equations: Equations, penalties: Tensor, *, signed: bool, start: Tensor | None
) -> Tensor:
    """``sparse_fits`` for a single update."""
    gram, b = _Gram(equations), equations.b[0].numpy()
    last, found = None if start is None else start[0].numpy(), []
    for penalty in penalties[0].tolist():
        last = sparse_fit(gram, b, penalty, signed=signed, start=last)
        found.append(last)
    return torch.from_numpy(np.stack(found))[None]


class _Gram:
    """K of a single update."""

    def __init__(self, equations: Equations) -> None:
        weights, kernels = equations.weights[0].tolist(), equations.kernels[0].numpy()
        self._parts = [(weights[part], kernels[part]) for part in equations.parts]

    def __getitem__(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        return np.asarray(sum(weight * kernel[columns] for weight, kernel in self._parts))

    def diagonal(self) -> NDArray[np.float64]:
        return np.asarray(sum(weight * kernel.diagonal() for weight, kernel in self._parts))
