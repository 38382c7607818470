"""Squares whose shares explain the rows of some updates, from large ones to small ones."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from veilmap.attacks.heatmap.squares import Squares, pick, to_front
from veilmap.attacks.reconstruction import Cloud
from veilmap.attacks.rows.covariance_fit import Fit, likelihood, scored, warm_up
from veilmap.attacks.rows.covariance_model import Activations, Parts, Target
from veilmap.attacks.rows.residuals import count_by_residuals
from veilmap.attacks.rows.row_statistics import RowStatistics
from veilmap.attacks.rows.rows import Rows
from veilmap.attacks.rows.silence import possible
from veilmap.attacks.rows.updated_layers import UpdatedLayers, standardise
from veilmap.federation.side_knowledge import Header

# Squares above this share of the mass are quartered, the heaviest first; those below the other are
# left out.
_HEAVY, _LIGHT, _MOST_SPLIT = 1e-2, 1e-4, 40
# Of Fisher scoring on each grid.
_STEPS = 2
# ψ of a column of unit variance, to begin with.
_NOISE = 1e-2


@dataclass(frozen=True)
class Explained:
    """Where the rows of an update place the user, and the cosine of S and C."""

    cloud: Cloud
    cosine: float


@dataclass(frozen=True)
class _Candidates:
    """Squares of one size, then the light ones of earlier grids.

    Attributes:
        squares: of each update.
        xy_m: the centres of all candidates, (updates, candidates, 2).
        real: those that do not only pad, (updates, candidates).
        shares: of all parts to begin with: candidates, directions, columns.
        times: of the weights before and after.
    """

    squares: Squares
    xy_m: Tensor
    real: Tensor
    shares: Tensor
    times: Tensor

    def mass(self, fit: Fit) -> Tensor:
        """The candidates' shares of the mass, (updates, candidates)."""
        shares = fit.shares[:, : self.xy_m.shape[1]] * self.real
        return shares / shares.sum(1, keepdim=True).clamp(min=1e-300)


@dataclass(frozen=True)
class SquareSearch:
    """Some updates, and what their rows say."""

    rows: Rows
    header: Header
    layers: UpdatedLayers
    statistics: RowStatistics
    squares: Squares
    squares_only: bool

    @classmethod
    def of(
        cls, rows: Rows, header: Header, layers: UpdatedLayers, *, squares_only: bool = False
    ) -> "SquareSearch":
        """Over the area, with or without directions and columns that explain rows too."""
        area = header.side_knowledge.area
        squares = Squares.cover(area, rows.grid_cells, layers.before[0].device)
        statistics = RowStatistics.of(header, layers, standardise(header, squares.xy_m))
        left = squares.where(possible(header, layers, squares))
        return cls(rows, header, layers, statistics, left, squares_only)

    def explain(self) -> list[Explained | None]:
        """What squares explain of every update, if anything."""
        target = Target.of(self.statistics, self.statistics.covariance)
        candidates, has_noise = self._begun()
        fit = self._fit(candidates, target, has_noise, _STEPS)
        while candidates.squares.side_m > self.rows.finest_m:
            heavy = _heaviest(candidates.mass(fit)[:, : len(candidates.squares)])
            if not heavy.any():
                break
            candidates = self._finer(candidates, fit, heavy)
            fit = self._fit(candidates, target, has_noise, _STEPS)
        parts = self._parts(candidates, target, fit.times, has_noise)
        known = (target.scale > 0).double()
        whole = parts.covariance(fit.shares, target.floor) * known[:, None] * known[..., None]
        cosines = torch.cosine_similarity(target.covariance.flatten(1), whole.flatten(1))
        return self._read(candidates, fit, cosines)

    def _begun(self) -> tuple[_Candidates, Tensor]:
        """The first grid as half of the rows has it, and whether columns have noise ψ.

        The other half decides: a model with more parts always explains the rows better that it is
        fitted to. ψ is there for some updates and not for others, (updates, 1).
        """
        fitted = Target.of(self.statistics, self.statistics.half(0))
        unseen = replace(fitted, covariance=fitted.scaled(self.statistics.half(1)))
        first, fits, scores = self._first(fitted), list[Fit](), list[Tensor]()
        never = first.times.new_zeros(len(first.times), 1)
        for has_noise in (never,) if self.squares_only else (never, never + 1):
            parts = self._parts(first, fitted, first.times, has_noise)
            warm = replace(first, shares=warm_up(parts, fitted, first.shares))
            fits.append(self._fit(warm, fitted, has_noise, 1))
            parts = self._parts(first, fitted, fits[-1].times, has_noise)
            scores.append(likelihood(parts, unseen, fits[-1].shares))
        best = torch.stack(scores).argmin(0)
        chosen = torch.stack([fit.shares for fit in fits])[best, torch.arange(len(best))]
        return replace(first, shares=chosen), best.double()[:, None]

    def _first(self, target: Target) -> _Candidates:
        """The first grid, every square with the same part of S."""
        squares, count = self.squares, len(self.squares)
        updates = len(target.scale)
        times = target.scale.new_full((updates, 2), 0.5)
        others = torch.cat(
            [torch.ones_like(target.directions[..., 0]), torch.full_like(target.scale, _NOISE)], 1
        )
        begun = _Candidates(squares, squares.xy_m, squares.real, others, times)
        energy = self._activations(begun, target).values.square().sum((1, 3)) / 2
        real = torch.where(squares.real, energy, torch.nan)
        least = 1e-2 * real.nanmedian(1, keepdim=True).values
        trace = target.covariance.diagonal(dim1=-2, dim2=-1).sum(-1, keepdim=True)
        shares = squares.real * trace / count / torch.maximum(energy, least)
        return replace(begun, shares=torch.cat([shares, others], 1))

    def _finer(self, candidates: _Candidates, fit: Fit, heavy: Tensor) -> _Candidates:
        """The quarters of the heavy squares and of their neighbours, and the light squares."""
        mass, count = candidates.mass(fit), len(candidates.squares)
        light = mass > _LIGHT
        light[:, :count] &= ~heavy
        order, parents = to_front(light), to_front(heavy)
        squares = candidates.squares.split(heavy)
        squares = squares.where(squares.real & possible(self.header, self.layers, squares))
        # A quarter begins with a quarter of its parent's share, one of a neighbour with nothing.
        parent_index = pick(candidates.squares.index, parents)
        is_child = (squares.index[:, :, None] // 2 == parent_index[:, None]).all(-1)
        is_child = is_child & heavy.gather(1, parents)[:, None]
        of_parents = fit.shares.gather(1, parents)[:, None]
        return _Candidates(
            squares=squares,
            xy_m=torch.cat([squares.xy_m, pick(candidates.xy_m, order)], 1),
            real=torch.cat([squares.real, light.gather(1, order)], 1),
            shares=torch.cat(
                [
                    (is_child * of_parents).sum(-1) / 4,
                    fit.shares.gather(1, order),
                    fit.shares[:, candidates.xy_m.shape[1] :],
                ],
                1,
            ),
            times=fit.times,
        )

    def _activations(self, candidates: _Candidates, target: Target) -> Activations:
        x = standardise(self.header, candidates.xy_m)
        live = self.statistics.live
        network = self.header.network
        return Activations.of(network, self.layers, live, target.scale, x).padded(candidates.real)

    def _parts(
        self, candidates: _Candidates, target: Target, times: Tensor, has_noise: Tensor
    ) -> Parts:
        directions = target.directions * (0.0 if self.squares_only else 1.0)
        return self._activations(candidates, target).parts(directions, times, has_noise)

    def _fit(self, candidates: _Candidates, target: Target, has_noise: Tensor, steps: int) -> Fit:
        """The shares of the candidates and of the other parts."""
        fit = Fit(candidates.shares, candidates.times)
        for _ in range(steps):
            parts = self._parts(candidates, target, fit.times, has_noise)
            fit = scored(parts, target, fit)
        return fit

    def _read(self, candidates: _Candidates, fit: Fit, cosines: Tensor) -> list[Explained | None]:
        mass = candidates.mass(fit)
        x = standardise(self.header, candidates.xy_m)
        counted = count_by_residuals(self.header, self.layers, x, mass, self.rows.scatter_db)
        found = list[Explained | None]()
        places = (values.cpu().numpy() for values in (candidates.xy_m, counted))
        for xy_m, shares, cosine in zip(*places, cosines.tolist(), strict=True):
            some = shares > 0
            cloud = Cloud(xy_m[some], shares[some])
            found.append(Explained(cloud, cosine) if some.any() else None)
        return found


def _heaviest(mass: Tensor) -> Tensor:
    """Those of the squares that are quartered."""
    order = (-mass).sort(dim=1, stable=True).indices[:, :_MOST_SPLIT]
    first = torch.zeros_like(mass, dtype=torch.bool).scatter(1, order, value=True)
    return first & (mass > _HEAVY)
