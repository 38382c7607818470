"""Fits of updates on squares: from a grid over the area to small ones where the mass is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from veilmap.attacks.first_layer import FirstLayer
from veilmap.attacks.heatmap.fit import fit
from veilmap.attacks.heatmap.heatmap import LinearisationName, SignName
from veilmap.attacks.heatmap.linearisation import Guess, nodes
from veilmap.attacks.heatmap.normal_equations import Dictionary, Equations, keep_halves
from veilmap.attacks.heatmap.refinement import FittedMap, Refinement
from veilmap.attacks.heatmap.squares import Squares
from veilmap.attacks.heatmap.updates import Updates
from veilmap.attacks.reconstruction import Reconstruction

# λ relative to the largest |b|, from few terms to many; each solution starts the next fit.
PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 0.0)


@dataclass(frozen=True)
class InitialFit:
    """Fits over the first grid; ``penalty``, ``fitted`` and ``held_out`` by update."""

    linearise: LinearisationName
    sign: SignName
    updates: Updates
    halves: tuple[Equations, Equations]
    penalty: Tensor
    fitted: Tensor
    held_out: NDArray[np.float64]

    @property
    def signed(self) -> bool:
        return self.sign == "both"

    def keep(self, some: NDArray[np.intp]) -> "InitialFit":
        """Only these updates, by number."""
        index = torch.from_numpy(some).to(self.penalty.device)
        return replace(
            self,
            updates=self.updates.keep(index),
            halves=keep_halves(self.halves, index),
            penalty=self.penalty[index],
            fitted=self.fitted[index],
            held_out=self.held_out[some],
        )


class SharedGrid:
    """The first grid, and its dictionary at the weights that the latest updates started from."""

    def __init__(self, squares: Squares) -> None:
        self.squares = squares
        self._weights: Tensor | None = None
        self._dictionary: Dictionary | None = None

    def at(self, weights: Tensor, make: Callable[[], Dictionary]) -> Dictionary:
        """The dictionary for these weights, which is made if it is another's."""
        same = self._weights is not None and torch.equal(self._weights, weights)
        if self._dictionary is None or not same:
            self._weights = self._dictionary = None  # frees memory for the next one
            self._weights, self._dictionary = weights, make()
        return self._dictionary


class Recovery:
    """Some updates, explained with several linearisations and signs."""

    def __init__(self, updates: Updates, grid: SharedGrid, finest_m: float) -> None:
        self._updates, self._grid, self._finest_m = updates, grid, finest_m
        self._first_grids: dict[LinearisationName, tuple[Equations, Equations]] = {}

    def one_place(
        self,
        linearise: LinearisationName,
        some: NDArray[np.intp],
        places: Sequence[Reconstruction],
    ) -> list[FittedMap]:
        """The maps of a single place each: a phone at rest needs no grid."""
        updates = self._updates.keep(torch.from_numpy(some))
        xy_m = torch.from_numpy(np.stack([each.xy_m for each in places])[:, None])
        x = updates.standardise(xy_m.to(updates.gradient.device))
        guess, goal = Guess(x, torch.ones_like(x[..., 0])), updates.goal
        along = nodes(linearise, updates, guess)
        halves = Dictionary(updates.header.network, along, x, goal=goal).equations(goal)
        free = guess.shares.new_zeros(len(x), 1)
        whole = halves[0] + halves[1]
        left = whole.unexplained(fit(whole, free, signed=False))
        tested = halves[1].unexplained(fit(halves[0], free, signed=False))
        return [
            FittedMap(linearise, place.cloud, *both)
            for place, *both in zip(places, left[:, 0].tolist(), tested[:, 0].tolist(), strict=True)
        ]

    def begin(
        self, linearise: LinearisationName, sign: SignName, some: NDArray[np.intp] | None = None
    ) -> InitialFit:
        """The fits over the first grid, with the penalties that suit them."""
        some = np.arange(len(self._updates)) if some is None else some
        index = torch.from_numpy(some).to(self._updates.gradient.device)
        first, second = keep_halves(self._first(linearise), index)
        signed = sign == "both"
        penalties = first.b.new_tensor(PENALTIES[:-1] if signed else PENALTIES)
        fits = fit(first, penalties.expand(len(some), -1), signed=signed)
        held_out, best = second.unexplained(fits).min(1)
        fitted = fits.gather(1, best[:, None, None].expand(-1, 1, fits.shape[2]))[:, 0]
        return InitialFit(
            linearise,
            sign,
            self._updates.keep(torch.from_numpy(some)),
            (first, second),
            penalties[best],
            fitted,
            held_out.cpu().numpy(),
        )

    def refine(self, initial: InitialFit) -> list[FittedMap]:
        """From the first grid to the finest squares, for each update where its mass is."""
        found: dict[int, FittedMap] = {}
        number = np.arange(len(initial.updates))
        refinement = Refinement(
            initial.linearise,
            initial.signed,
            initial.updates,
            initial.penalty,
            self._grid.squares,
            self._grid.squares.xy_m.expand(len(number), -1, -1),
            initial.halves,
            initial.fitted,
        )
        while len(number):
            fitted = refinement.fit_shares()
            ends = ~fitted.heavy.any(1) | (refinement.squares.side_m <= self._finest_m)
            done, on = ends.nonzero()[:, 0], (~ends).nonzero()[:, 0]
            if len(done):
                found |= zip(number[done.cpu().numpy()], refinement.end(fitted, done), strict=True)
            if len(on):
                refinement = refinement.next(fitted, on)
            number = number[on.cpu().numpy()]
        return [found[i] for i in range(len(initial.updates))]

    def _first(self, linearise: LinearisationName) -> tuple[Equations, Equations]:
        """Those of the first grid, which fits with one sign and with both share."""
        if linearise not in self._first_grids:
            dictionary = self._first_dictionary(linearise)
            self._first_grids[linearise] = dictionary.equations(self._updates.goal)
        return self._first_grids[linearise]

    def _first_dictionary(self, linearise: LinearisationName) -> Dictionary:
        updates = self._updates
        x, network = updates.standardise(self._grid.squares.xy_m), updates.header.network
        if linearise == "before" and len(updates.before) == 1:
            make = partial(Dictionary, network, nodes(linearise, updates), x)
            return self._grid.at(updates.before, make)
        guess = self._first_guess if linearise == "path" else None
        return Dictionary(network, nodes(linearise, updates, guess), x, goal=updates.goal)

    @cached_property
    def _first_guess(self) -> Guess:
        """Lemma 1's location, or the middle of the area."""
        header, device = self._updates.header, self._updates.gradient.device
        guesses_m = [FirstLayer().one(header, each).xy_m for each in self._updates.observations]
        middle_m = header.side_knowledge.area.centre_m
        xy_m = np.stack([each if np.isfinite(each).all() else middle_m for each in guesses_m])
        x = self._updates.standardise(torch.from_numpy(xy_m[:, None]).to(device))
        return Guess(x, torch.ones_like(x[..., 0]))
