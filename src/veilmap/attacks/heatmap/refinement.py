"""Fits of updates on squares of one size, and from there on smaller ones where the mass is."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.heatmap.fit import fit
from veilmap.attacks.heatmap.heatmap import LinearisationName
from veilmap.attacks.heatmap.linearisation import Guess
from veilmap.attacks.heatmap.normal_equations import Halves, keep_halves, own_equations
from veilmap.attacks.heatmap.squares import Squares, pick, to_front
from veilmap.attacks.heatmap.updates import UpdateBatch
from veilmap.attacks.reconstruction import Cloud
from veilmap.attacks.tangent import of_updates

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
    """Coefficients, shares of the mass without the noise, and which candidates have much of it."""

    c: Tensor
    shares: Tensor
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
        xy_m: the candidates, (updates, candidates, 2); one row if all updates share them.
        halves: the problem over each half of the coordinates.
        start: an initial solution, if one is known.
    """

    linearise: LinearisationName
    signed: bool
    updates: UpdateBatch
    penalty: Tensor
    squares: Squares
    xy_m: Tensor
    halves: Halves
    start: Tensor | None = None

    def keep(self, some: Tensor) -> "Refinement":
        """Only these updates, by number."""
        return replace(
            self,
            updates=self.updates.keep(some),
            penalty=self.penalty[some],
            squares=self.squares.keep(some),
            xy_m=of_updates(self.xy_m, some),
            halves=keep_halves(self.halves, some),
            start=None if self.start is None else self.start[some],
        )

    def fit_shares(self) -> FittedShares:
        """Fit the whole update."""
        penalty, whole = self.penalty[:, None], self.halves[0] + self.halves[1]
        c = fit(whole, penalty, signed=self.signed, start=self.start)[:, 0]
        shares = c.abs() / _or_one(c.abs().sum(1, keepdim=True))
        shares = shares * (shares > LEAST_SHARE)
        order = (-shares[:, : len(self.squares)]).sort(dim=1, stable=True).indices
        heaviest = torch.zeros_like(shares, dtype=torch.bool)
        heaviest.scatter_(1, order[:, :MOST_SPLIT], value=True)
        return FittedShares(c, shares, heaviest & (shares > 0))

    def next(self, fitted: FittedShares, on: Tensor) -> "Refinement":
        """The next refinement of some updates: their heavy squares, quartered."""
        heavy, light = fitted.heavy[on], ((fitted.shares > 0) & ~fitted.heavy)[on]
        updates, order = self.updates.keep(on), to_front(light)
        squares = self.squares.keep(on).split(heavy[:, : len(self.squares)])
        xy_m = torch.cat([squares.xy_m, pick(of_updates(self.xy_m, on), order)], 1)
        real = torch.cat([squares.real, light.gather(1, order)], 1)
        guess = self._guess(fitted, on) if self.linearise == "path" else None
        halves = own_equations(updates, self.linearise, updates.standardise(xy_m), guess, real)
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
        places = (values.cpu().numpy() for values in self._with_mass(fitted, done))
        return [
            FittedMap(self.linearise, _cloud(*place), *both)
            for *place, both in zip(*places, zip(left, held_out, strict=True), strict=True)
        ]

    def _guess(self, fitted: FittedShares, on: Tensor) -> Guess:
        """The candidates with some mass, as a guess of where the user was."""
        xy_m, shares = self._with_mass(fitted, on)
        return Guess(self.updates.standardise(xy_m), shares / _or_one(shares.sum(1, keepdim=True)))

    def _with_mass(self, fitted: FittedShares, some: Tensor) -> tuple[Tensor, Tensor]:
        """The candidates of some updates that have mass, and their shares; padded with zeros."""
        shares = fitted.shares[some]
        order = to_front(shares > 0)
        return pick(of_updates(self.xy_m, some), order), shares.gather(1, order)


def _cloud(xy_m: NDArray[np.float64], shares: NDArray[np.float64]) -> Cloud:
    some = shares > 0
    return Cloud(xy_m[some], shares[some] / (shares.sum() or 1.0))


def _or_one(total: Tensor) -> Tensor:
    return torch.where(total > 0, total, 1.0)
