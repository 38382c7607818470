"""The covariance of the rows as a sum of parts with shares of at least 0.

C = Σ_c ρ_c Σ_t a_t (φ_t φ_tᵀ + κ diag(h_t²))(x_c) + Σ_k b_k v_k v_kᵀ + diag(ψ) + floor. φ = (h, 1)
has the first layer's outputs at a place x_c with the weights before (t = 0) and after (t = 1),
κ = p/(1−p) is what dropout adds, v_k are directions of the smooth part that the projection left,
and ψ is noise of single columns. All parts are diag(D_a) + Σ_t r_at r_atᵀ.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from veilmap.attacks.rows.row_statistics import RowStatistics
from veilmap.attacks.rows.updated_layers import UpdatedLayers
from veilmap.attacks.tangent import activate
from veilmap.model.network import Network

# Relative to the median variance of a column: what no part explains.
_FLOOR = 3e-4


@dataclass(frozen=True)
class Target:
    """The covariance to explain, in columns of about unit variance.

    Attributes:
        covariance: S, (updates, d, d).
        scale: what a column was multiplied by; 0 for a silent unit, which says nothing.
        floor: the variance that no part explains.
        directions: v_k, (updates, directions, d).
    """

    covariance: Tensor
    scale: Tensor
    floor: Tensor
    directions: Tensor

    @classmethod
    def of(cls, statistics: RowStatistics, covariance: Tensor) -> "Target":
        """Of all rows or of half of them."""
        variance = covariance.diagonal(dim1=-2, dim2=-1)
        some = torch.where(variance > 0, variance, torch.nan)
        floor = _FLOOR * some.nanmedian(-1, keepdim=True).values.nan_to_num(1.0)
        scale = torch.where(statistics.silent, 0.0, (variance + floor).rsqrt())
        directions = torch.nn.functional.normalize(statistics.smooth * scale[:, None], dim=-1)
        return cls(
            covariance=_scaled(covariance, scale),
            scale=scale,
            # A silent column is left with a variance of 1, so that C has an inverse.
            floor=torch.where(statistics.silent, 1.0, floor * scale.square()),
            directions=directions,
        )

    def scaled(self, covariance: Tensor) -> Tensor:
        """Another covariance in the same columns."""
        return _scaled(covariance, self.scale)


@dataclass(frozen=True)
class Parts:
    """What C is a sum of: squares, directions, columns, in this order.

    Attributes:
        ranks: √a_t r_at of squares and directions, (updates, t, squares + directions, d).
        diagonals: D_a of the squares, (updates, squares, d).
        has_noise: whether ψ may be above 0, (updates, 1).
    """

    ranks: Tensor
    diagonals: Tensor
    has_noise: Tensor

    @property
    def squares(self) -> int:
        """The number of squares."""
        return self.diagonals.shape[1]

    @property
    def others(self) -> int:
        """The number of directions and columns."""
        return self.ranks.shape[2] - self.squares + self.ranks.shape[3]

    def covariance(self, shares: Tensor, floor: Tensor) -> Tensor:
        """C for the shares of all parts, (updates, parts)."""
        count = self.ranks.shape[2]
        weighted = self.ranks * shares[:, None, :count, None]
        total = weighted.flatten(1, 2).mT @ self.ranks.flatten(1, 2)
        on_diagonal = (shares[:, None, : self.squares] @ self.diagonals)[:, 0]
        on_diagonal = on_diagonal + shares[:, count:] * self.has_noise + floor
        total.diagonal(dim1=-2, dim2=-1).add_(on_diagonal)
        return total

    def forms(self, matrix: Tensor) -> Tensor:
        """Of squares and directions r_atᵀ M r_at at both times, (updates, t, parts)."""
        return ((self.ranks @ matrix[:, None]) * self.ranks).sum(-1)

    def traces(self, matrix: Tensor, forms: Tensor) -> Tensor:
        """tr(M B_a) of every part, (updates, parts)."""
        ranked, diagonal = forms.sum(1), matrix.diagonal(dim1=-2, dim2=-1)
        ranked[:, : self.squares] += (self.diagonals @ diagonal[..., None])[..., 0]
        return torch.cat([ranked, diagonal * self.has_noise], 1)

    def gram(self, inverse: Tensor) -> Tensor:
        """tr(C⁻¹ B_a C⁻¹ B_b) of all pairs of parts, (updates, parts, parts)."""
        turned = self.ranks @ inverse[:, None]
        # One after the other: on a GPU these are most of the memory.
        pairs = [(one, other) for one in turned.unbind(1) for other in self.ranks.unbind(1)]
        ranked = turned.new_zeros(len(turned), turned.shape[2], turned.shape[2])
        for one, other in pairs:
            ranked += (one @ other.mT).square_()
        by_column = turned.square().sum(1)
        squared = inverse.square()
        with_squares = by_column @ self.diagonals.mT
        own = self.diagonals @ squared
        ranked[:, :, : self.squares] += with_squares
        ranked[:, : self.squares] += with_squares.mT
        ranked[:, : self.squares, : self.squares] += own @ self.diagonals.mT
        by_column[:, : self.squares] += own
        by_column = by_column * self.has_noise[..., None]
        columns = squared * self.has_noise[..., None]
        upper, lower = torch.cat([ranked, by_column], 2), torch.cat([by_column.mT, columns], 2)
        return torch.cat([upper, lower], 1)


@dataclass(frozen=True)
class Activations:
    """φ of squares at the weights before and after, in the columns of a target.

    Attributes:
        values: (updates, 2, squares, d), without the shares of time.
        kappa: p/(1−p) of the first dropout.
    """

    values: Tensor
    kappa: float

    @classmethod
    def of(
        cls, network: Network, layers: UpdatedLayers, live: Tensor, scale: Tensor, x: Tensor
    ) -> "Activations":
        """At the places ``x``, (updates, squares, 2), standardised."""
        nodes = []
        for matrix, bias, *_ in (layers.before, layers.after):
            h = activate(network.activations[0], x @ matrix.mT + bias[:, None])
            nodes.append(torch.nn.functional.pad(h, (0, 1), value=1.0)[..., live])
        share = network.dropout[0]
        return cls(torch.stack(nodes, 1) * scale[:, None, None], share / (1 - share))

    def parts(self, directions: Tensor, times: Tensor, has_noise: Tensor) -> Parts:
        """With the shares of time a_t, (updates, 2)."""
        roots = times.sqrt()[..., None, None]
        squares = self.values * roots
        ranks = torch.cat([squares, directions[:, None] * roots], 2)
        diagonals = self.kappa * squares.square().sum(1)
        diagonals[..., -1] = 0  # no unit: dropout leaves the bias alone
        return Parts(ranks, diagonals, has_noise)

    def padded(self, real: Tensor) -> "Activations":
        """Without the squares that only pad."""
        return replace(self, values=self.values * real[:, None, :, None])


def _scaled(covariance: Tensor, scale: Tensor) -> Tensor:
    return covariance * scale[:, None] * scale[..., None]
