"""Fits of updates on squares: from a grid over the area to small ones where the mass is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.heatmap.fit import fit
from veilmap.attacks.heatmap.heatmap import LinearisationName
from veilmap.attacks.heatmap.linearisation import Guess, nodes
from veilmap.attacks.heatmap.normal_equations import Dictionary, Halves, keep_halves, own_equations
from veilmap.attacks.heatmap.refinement import FittedMap, Refinement
from veilmap.attacks.heatmap.squares import Squares
from veilmap.attacks.heatmap.updates import UpdateBatch
from veilmap.attacks.reconstruction import Reconstruction

# λ relative to the largest |b|, from few terms to many; each solution starts the next fit.
PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 0.0)


@dataclass(frozen=True)
class InitialFit:
    """Fits over the first grid, and the share of the set-aside half that they leave unexplained."""

    refinement: Refinement
    held_out: NDArray[np.float64]


class SharedGrid:
    """The first grid, and its dictionary at the weights that the latest updates started from."""

    def __init__(self, squares: Squares) -> None:
        self.squares = squares
        self._latest: tuple[Tensor, Dictionary] | None = None

    def dictionary(self, updates: UpdateBatch) -> Dictionary:
        """At the weights that all these updates started from."""
        if self._latest is None or not torch.equal(self._latest[0], updates.before):
            self._latest = None  # frees memory for the next one
            x, along = updates.standardise(self.squares.xy_m), nodes("before", updates)
            self._latest = updates.before, Dictionary(updates.header.network, along, x)
        return self._latest[1]


class Recovery:
    """Some updates, explained with several linearisations and signs."""

    def __init__(self, updates: UpdateBatch, grid: SharedGrid, finest_m: float) -> None:
        self._updates, self._grid, self._finest_m = updates, grid, finest_m
        # Over the first grid; fits with one sign and with both share them.
        self._first: dict[LinearisationName, Halves] = {}

    def one_place(
        self, linearise: LinearisationName, some: NDArray[np.intp], places: Sequence[Reconstruction]
    ) -> list[FittedMap]:
        """The maps of a single place each: a phone at rest needs no grid."""
        updates = self._updates.keep(torch.from_numpy(some))
        guess = Guess.at(updates, [each.xy_m for each in places])
        first, second = own_equations(updates, linearise, guess.x, guess)
        whole, free = first + second, torch.zeros_like(guess.shares)
        left = whole.unexplained(fit(whole, free, signed=False))
        tested = second.unexplained(fit(first, free, signed=False))
        return [
            FittedMap(linearise, place.cloud, *both)
            for place, *both in zip(places, left[:, 0].tolist(), tested[:, 0].tolist(), strict=True)
        ]

    def begin(
        self, linearise: LinearisationName, some: NDArray[np.intp] | None = None, *, signed: bool
    ) -> InitialFit:
        """The fits over the first grid, with the penalties that suit them."""
        some = np.arange(len(self._updates)) if some is None else some
        index = torch.from_numpy(some).to(self._updates.device)
        if linearise not in self._first:
            self._first[linearise] = self._equations(linearise)
        first, second = halves = keep_halves(self._first[linearise], index)
        penalties = first.b.new_tensor(PENALTIES[:-1] if signed else PENALTIES)
        fits = fit(first, penalties.expand(len(some), -1), signed=signed)
        held_out, best = second.unexplained(fits).min(1)
        fitted = fits.gather(1, best[:, None, None].expand(-1, 1, fits.shape[2]))[:, 0]
        updates, squares = self._updates.keep(index), self._grid.squares
        refinement = Refinement(
            linearise, signed, updates, penalties[best], squares, squares.xy_m, halves, fitted
        )
        return InitialFit(refinement, held_out.cpu().numpy())

    def refine(self, initial: InitialFit, some: NDArray[np.intp]) -> list[FittedMap]:
        """From the first grid to the finest squares, for some updates where their mass is."""
        found: dict[int, FittedMap] = {}
        number = np.arange(len(some))
        refinement = initial.refinement.keep(torch.from_numpy(some).to(self._updates.device))
        while len(number):
            fitted = refinement.fit_shares()
            ends = ~fitted.heavy.any(1) | (refinement.squares.side_m <= self._finest_m)
            done, on = ends.nonzero()[:, 0], (~ends).nonzero()[:, 0]
            if len(done):
                found |= zip(number[done.cpu().numpy()], refinement.end(fitted, done), strict=True)
            if len(on):
                refinement = refinement.next(fitted, on)
            number = number[on.cpu().numpy()]
        return [found[i] for i in range(len(some))]

    def _equations(self, linearise: LinearisationName) -> Halves:
        """Over the first grid, of all updates."""
        updates = self._updates
        if linearise == "before" and len(updates.before) == 1:
            return self._grid.dictionary(updates).equations(updates.goal)
        guess = _first_guess(updates) if linearise == "path" else None
        x = updates.standardise(self._grid.squares.xy_m)
        return own_equations(updates, linearise, x, guess)


def _first_guess(updates: UpdateBatch) -> Guess:
    """Lemma 1's location, or the middle of the area."""
    places_m = [FirstLayer().one(updates.header, each).xy_m for each in updates.observations]
    middle_m = updates.header.side_knowledge.area.centre_m
    return Guess.at(updates, [each if np.isfinite(each).all() else middle_m for each in places_m])
