"""Fits of updates on squares of one size, and from there on smaller ones where the mass is."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.heatmap.fit import fit
from veilmap.attacks.heatmap.heatmap import LinearisationName
from veilmap.attacks.heatmap.linearisation import Guess, nodes
from veilmap.attacks.heatmap.normal_equations import Dictionary, Equations, keep_halves
from veilmap.attacks.heatmap.squares import Squares, pick, to_front
from veilmap.attacks.heatmap.updates import Updates
from veilmap.attacks.reconstruction import Cloud

# A square below this share of the mass is noise.
LEAST_SHARE = 1e-3
# So many of the heaviest squares are split at each refinement; the others stay as they are.
MOST_SPLIT = 16


@dataclass(frozen=True)
class FittedMap:
    """A heat map of one update, and the share of the update that it leaves unexplained."""

    linearise: LinearisationName
    cloud: Cloud
    unexplained: float
    held_out: float


@dataclass(frozen=True)
class FittedShares:
    """Coefficients, shares of the mass, and which candidates have some of it and which much."""

    c: Tensor
    shares: Tensor
    some: Tensor
    heavy: Tensor


@dataclass(frozen=True)
class Refinement:
    """Squares of one size, followed by the light ones of earlier refinements.

    Attributes:
        linearise: where the tangents are taken.
        signed: whether coefficients may have both signs.
        updates: to explain.
        penalty: λ relative to the largest |b|, of each update.
        squares: of each update.
        xy_m: the candidates, (updates, candidates, 2).
        halves: the problem over each half of the coordinates.
        start: an initial solution, if one is known.
    """

    linearise: LinearisationName
    signed: bool
    updates: Updates
    penalty: Tensor
    squares: Squares
    xy_m: Tensor
    halves: tuple[Equations, Equations]
    start: Tensor | None = None

    def fit_shares(self) -> FittedShares:
        """Fit the whole update."""
        penalty, whole = self.penalty[:, None], self.halves[0] + self.halves[1]
        c = fit(whole, penalty, signed=self.signed, start=self.start)[:, 0]
        shares = c.abs() / _or_one(c.abs().sum(1, keepdim=True))
        some = shares > LEAST_SHARE
        order = (-shares[:, : len(self.squares)]).sort(dim=1, stable=True).indices
        heavy = torch.zeros_like(some).scatter_(1, order[:, :MOST_SPLIT], value=True)
        return FittedShares(c, shares, some, heavy & some)

    def next(self, fitted: FittedShares, on: Tensor) -> "Refinement":
        """The next refinement of some updates: their heavy squares, quartered."""
        heavy, light = fitted.heavy[on], (fitted.some & ~fitted.heavy)[on]
        updates, order = self.updates.keep(on), to_front(light)
        squares = self.squares.keep(on).split(heavy[:, : len(self.squares)])
        xy_m = torch.cat([squares.xy_m, pick(self.xy_m[on], order)], 1)
        real = torch.cat([squares.real, light.gather(1, order)], 1)
        guess = self._guess(fitted, on) if self.linearise == "path" else None
        along, x = nodes(self.linearise, updates, guess), updates.standardise(xy_m)
        dictionary = Dictionary(updates.header.network, along, x, real, updates.goal)
        halves = dictionary.equations(updates.goal)
        return Refinement(
            self.linearise, self.signed, updates, self.penalty[on], squares, xy_m, halves
        )

    def end(self, fitted: FittedShares, done: Tensor) -> list[FittedMap]:
        """The final heat maps of some updates."""
        first, second = keep_halves(self.halves, done)
        c, penalty = fitted.c[done], self.penalty[done, None]
        tested = fit(first, penalty, signed=self.signed, start=c)
        held_out = second.unexplained(tested)[:, 0].tolist()
        left = (first + second).unexplained(c[:, None])[:, 0].tolist()
        order = to_front(fitted.some[done])
        places_m = pick(self.xy_m[done], order).cpu().numpy()
        shares = (fitted.shares * fitted.some)[done].gather(1, order).cpu().numpy()
        return [
            FittedMap(self.linearise, _cloud(*place), *both)
            for *place, both in zip(places_m, shares, zip(left, held_out, strict=True), strict=True)
        ]

    def _guess(self, fitted: FittedShares, on: Tensor) -> Guess:
        """The candidates with some mass, as a guess of where the user was."""
        order = to_front(fitted.some[on])
        shares = (fitted.shares * fitted.some)[on].gather(1, order)
        x = self.updates.standardise(pick(self.xy_m[on], order))
        return Guess(x, shares / _or_one(shares.sum(1, keepdim=True)))


def _cloud(xy_m: NDArray[np.float64], shares: NDArray[np.float64]) -> Cloud:
    """Of the places with a share; the others are padding."""
    some = shares > 0
    return Cloud(xy_m[some], shares[some] / (shares.sum() or 1.0))


def _or_one(total: Tensor) -> Tensor:
    return torch.where(total > 0, total, 1.0)
