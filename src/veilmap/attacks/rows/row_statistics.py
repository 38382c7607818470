"""The rows of the second layer's update, made comparable, and their covariance.

Row j of (ΔW2, Δb2) is −η Σ (2 r_i/B) δ_j(x_i) ξ_j (φ(x_i), 1) over points and steps, with
φ(x) = a(W1 x + b1) and δ_j = ∂F/∂z_j of unit j of the second layer. Divided by the size g_j of
δ_j, rows differ by the dropout ξ_j and by what varies smoothly with the unit's slope, output and
outgoing weight. That part sums residuals with their signs; it is projected out and kept apart.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.attacks.tangent import Blocks, Factors, factors, slopes
from veilmap.federation.side_knowledge import Header
from veilmap.model.network import ActivationName

# Places in the area at which units are looked at.
_PLACES = 25
# Units below this share of the median size hardly learned: their rows are mostly rounding.
_LEAST_SIZE = 0.15
# Of the smooth part: relative size of the smallest direction, and the most directions.
_SMOOTH, _MOST_SMOOTH = 1e-5, 80
# Where the second layer's activation is steepest or bends.
_CENTRE: dict[ActivationName, float] = {"relu": 0.0, "sigmoid": 0.5, "tanh": 0.0, "elu": 0.0}


@dataclass(frozen=True)
class RowStatistics:
    """Of several updates; d is the number of units of the first layer that any has on, and 1.

    Attributes:
        grams: Σ y yᵀ over the even and the odd rows, (updates, 2, d, d).
        freedom: the degrees of freedom of each half, (updates, 2).
        noise: the share of the rows' squares that the projection left, (updates,).
        smooth: the projected part, (updates, directions, d).
        live: which columns of the first layer's units these are, then the bias.
        silent: units of those that the update did not touch, (updates, d).
    """

    grams: Tensor
    freedom: Tensor
    noise: Tensor
    smooth: Tensor
    live: Tensor
    silent: Tensor

    @classmethod
    def of(cls, header: Header, layers: UpdatedLayers, x: Tensor) -> "RowStatistics":
        """Of updates, with units looked at at the places ``x`` (standardised)."""
        network = header.network
        silent = torch.nn.functional.pad(layers.silent, (0, 1))
        if network.activations[0] != "relu":  # only ReLU is ever exactly off
            silent = torch.zeros_like(silent)
        live = (~silent.all(0)).nonzero()[:, 0]
        some = x[:, torch.linspace(0, x.shape[1] - 1, _PLACES, device=x.device).long()]
        before, after = (factors(network, each, some) for each in (layers.before, layers.after))
        size = torch.cat([before.errors[1], after.errors[1]], 1).square().mean(1).sqrt()
        kept = size > _LEAST_SIZE * size.median(-1, keepdim=True).values
        scale = torch.where(kept, 1 / size, 0.0)[..., None]
        rows = layers.rows[..., live] * scale
        basis = _basis(network.activations[1], before, layers.before, scale)
        smooth, total = basis.mT @ rows, rows.square().sum((1, 2))
        rows = rows - basis @ smooth
        halves = [rows[:, start::2] for start in (0, 1)]
        counted = torch.stack([kept[:, start::2].sum(-1) for start in (0, 1)], -1)
        directions = (basis != 0).any(1).sum(-1, keepdim=True)
        return cls(
            grams=torch.stack([half.mT @ half for half in halves], 1),
            freedom=(counted - directions / 2).clamp(min=1.0),
            noise=rows.square().sum((1, 2)) / total.clamp(min=1e-300),
            smooth=smooth,
            live=live,
            silent=silent[:, live],
        )

    @property
    def covariance(self) -> Tensor:
        """S over all rows."""
        covariance: Tensor = self.grams.sum(1) / self.freedom.sum(-1)[:, None, None]
        return covariance

    def half(self, number: int) -> Tensor:
        """S over the even (0) or the odd rows (1)."""
        covariance: Tensor = self.grams[:, number] / self.freedom[:, number, None, None]
        return covariance


def _basis(name: ActivationName, before: Factors, layers: Blocks, scale: Tensor) -> Tensor:
    """Orthonormal directions over the units in which the update without noise lies.

    They span {1, e, e²} · a'(z) · {1, s, s²} / g at several places, with e = ∂F/∂h of the unit, its
    slope a'(z) and its output s around the activation's centre.
    """
    output = before.inputs[2] - _CENTRE[name]
    slope = slopes(name, before.inputs[2])
    pulled = before.errors[2] @ layers[4]
    pulled = pulled / pulled.square().mean(-1, keepdim=True).sqrt().clamp(min=1e-30)
    factors_ = [pulled**a * slope * output**b for a in (0, 1, 2) for b in (0, 1, 2)]
    columns = torch.cat(factors_, 1).mT * scale
    columns = columns / columns.norm(dim=1, keepdim=True).clamp(min=1e-30)
    # Through the smaller Gram matrix: a decomposition of the columns takes ten times as long.
    values, vectors = torch.linalg.eigh(columns.mT @ columns)
    values, vectors = values.flip(-1)[:, :_MOST_SMOOTH], vectors.flip(-1)[..., :_MOST_SMOOTH]
    strong = values > _SMOOTH**2 * values[:, :1]
    weights = torch.where(strong, values.clamp(min=1e-30).rsqrt(), 0.0)
    basis: Tensor = columns @ (vectors * weights[:, None])
    return basis
