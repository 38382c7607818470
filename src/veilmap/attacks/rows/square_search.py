"""Squares whose shares explain the rows of some updates, from large ones to small ones."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from veilmap.attacks.heatmap.squares import Squares, pick, to_front
from veilmap.attacks.rows.covariance_fit import Fit
from veilmap.attacks.rows.place_fit import Candidates, Explained, PlaceFit
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


@dataclass(frozen=True)
class _Grid:
    """Squares of one size, then the light ones of earlier grids, as candidates."""

    squares: Squares
    candidates: Candidates


@dataclass(frozen=True)
class SquareSearch:
    """Some updates, the fit of their rows, and the squares of the first grid."""

    place_fit: PlaceFit
    squares: Squares

    @classmethod
    def of(
        cls, rows: Rows, header: Header, layers: UpdatedLayers, *, squares_only: bool = False
    ) -> "SquareSearch":
        """Over the area, with or without directions and columns that explain rows too."""
        area = header.side_knowledge.area
        squares = Squares.cover(area, rows.grid_cells, layers.before[0].device)
        statistics = RowStatistics.of(header, layers, standardise(header, squares.xy_m))
        left = squares.where(possible(header, layers, squares))
        return cls(PlaceFit(rows, header, layers, statistics, squares_only), left)

    def explain(self) -> list[Explained | None]:
        """What squares explain of every update, if anything."""
        target, squares = self.place_fit.target, self.squares
        first = self.place_fit.begin(squares.xy_m, squares.real, squares.real.double())
        fit, has_noise = self.place_fit.judged(first)
        grid = _Grid(squares, replace(first, shares=fit.shares))
        fit = self.place_fit.fit(grid.candidates, target, has_noise, _STEPS)
        while grid.squares.side_m > self.place_fit.rows.finest_m:
            heavy = _heaviest(grid.candidates.mass(fit)[:, : len(grid.squares)])
            if not heavy.any():
                break
            grid = self._finer(grid, fit, heavy)
            fit = self.place_fit.fit(grid.candidates, target, has_noise, _STEPS)
        return self.place_fit.read(grid.candidates, target, has_noise, fit)

    def _finer(self, grid: _Grid, fit: Fit, heavy: Tensor) -> _Grid:
        """The quarters of the heavy squares and of their neighbours, and the light squares."""
        candidates, count = grid.candidates, len(grid.squares)
        light = candidates.mass(fit) > _LIGHT
        light[:, :count] &= ~heavy
        order, parents = to_front(light), to_front(heavy)
        squares = grid.squares.split(heavy)
        header, layers = self.place_fit.header, self.place_fit.layers
        squares = squares.where(squares.real & possible(header, layers, squares))
        # A quarter begins with a quarter of its parent's share, one of a neighbour with nothing.
        parent_index = pick(grid.squares.index, parents)
        is_child = (squares.index[:, :, None] // 2 == parent_index[:, None]).all(-1)
        is_child = is_child & heavy.gather(1, parents)[:, None]
        of_parents = fit.shares.gather(1, parents)[:, None]
        shares = [
            (is_child * of_parents).sum(-1) / 4,
            fit.shares.gather(1, order),
            fit.shares[:, candidates.xy_m.shape[1] :],
        ]
        finer = Candidates(
            xy_m=torch.cat([squares.xy_m, pick(candidates.xy_m, order)], 1),
            real=torch.cat([squares.real, light.gather(1, order)], 1),
            shares=torch.cat(shares, 1),
            times=fit.times,
        )
        return _Grid(squares, finer)


def _heaviest(mass: Tensor) -> Tensor:
    """Those of the squares that are quartered."""
    order = (-mass).sort(dim=1, stable=True).indices[:, :_MOST_SPLIT]
    first = torch.zeros_like(mass, dtype=torch.bool).scatter(1, order, value=True)
    return first & (mass > _HEAVY)
