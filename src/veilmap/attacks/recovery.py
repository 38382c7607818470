"""One update explained by cells: from a grid over the area to small cells where the mass is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.cells import Cells
from veilmap.attacks.linearisation import LinearisationName, nodes
from veilmap.attacks.matching import leaked_gradient
from veilmap.attacks.neurons import Neurons
from veilmap.attacks.normal_equations import Dictionary, Equations
from veilmap.attacks.reconstruction import Cloud
from veilmap.attacks.search import Search
from veilmap.attacks.sparse import sparse_fit
from veilmap.attacks.tangent import as_blocks
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.network import Floats

SignName = Literal["one", "both"]
# λ relative to the largest |b|, from few terms to many; a solution starts the next.
PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 0.0)
# A cell below this share of the mass is noise.
LEAST_SHARE = 1e-3
# So many of a level are looked at more closely, the heaviest; the others stay as they are.
MOST_SPLIT = 16


@dataclass(frozen=True)
class Found:
    """A heat map, and the share of the update that it leaves unexplained."""

    linearise: LinearisationName
    cloud: Cloud
    unexplained: float
    held_out: float


@dataclass(frozen=True)
class Begun:
    """A fit over the first grid."""

    linearise: LinearisationName
    sign: SignName
    cells: Cells
    halves: tuple[Equations, Equations]
    penalty: float
    fitted: NDArray[np.float64]
    held_out: float

    @property
    def signed(self) -> bool:
        return self.sign == "both"


class SharedGrid:
    """The first grid's dictionary at the weights before, kept for the next update from there."""

    def __init__(self) -> None:
        self._weights: Floats | None = None
        self._dictionary: Dictionary | None = None

    def at(self, weights: Floats, make: Callable[[], Dictionary]) -> Dictionary:
        """What was made for these weights, or made now."""
        same = self._weights is weights or (
            self._weights is not None and np.array_equal(self._weights, weights)
        )
        if self._dictionary is None or not same:
            self._weights, self._dictionary = weights, make()
        return self._dictionary


class Recovery:
    """One update, explained with several linearisations and signs."""

    def __init__(
        self,
        header: Header,
        observation: Observation,
        grid: Cells,
        finest_m: float,
        shared: SharedGrid,
    ) -> None:
        self._header, self._observation = header, observation
        self._grid, self._finest_m, self._shared = grid, finest_m, shared
        self._gradient = as_blocks(header.network, leaked_gradient(observation))
        self._first_grids: dict[LinearisationName, Dictionary] = {}
        guess_m = Neurons().one(header, observation).xy_m
        middle_m = header.side_knowledge.area.centre_m
        self._first_guess = Cloud.at(guess_m if np.isfinite(guess_m).all() else middle_m)

    def one_place(self, linearise: LinearisationName) -> Found:
        """What a single place explains: a phone that rested needs no map of cells."""
        (search,) = Search(inside=True, exact_m=0.1).attack(self._header, [self._observation])
        halves = self._dictionary(linearise, search.xy_m[None], search.cloud).equations(
            self._gradient
        )
        whole = halves[0] + halves[1]
        c = _fit(whole, 0.0, signed=False)
        tested = halves[1].unexplained(_fit(halves[0], 0.0, signed=False))
        return Found(linearise, search.cloud, whole.unexplained(c), tested)

    def begin(self, linearise: LinearisationName, sign: SignName) -> Begun:
        """The fit over the first grid, with the penalty that suits it."""
        halves = self._first(linearise).equations(self._gradient)
        penalty, fitted = _choose_penalty(*halves, sign == "both")
        return Begun(
            linearise, sign, self._grid, halves, penalty, fitted, halves[1].unexplained(fitted)
        )

    def refine(self, begun: Begun) -> Found:
        """From the first grid to the finest."""
        cells, halves, penalty, signed = begun.cells, begun.halves, begun.penalty, begun.signed
        start: NDArray[np.float64] | None = begun.fitted
        xy_m = cells.xy_m
        while True:
            whole = halves[0] + halves[1]
            c, start = _fit(whole, penalty, signed, start), None
            shares = np.abs(c) / (np.abs(c).sum() or 1.0)
            some = shares > LEAST_SHARE
            guess = Cloud(xy_m[some], shares[some] / (shares[some].sum() or 1.0))
            heavy = some & _heaviest(shares, cells)
            if cells.side_m <= self._finest_m or not heavy.any():
                break
            light_m = xy_m[some & ~heavy]
            cells = cells.split(heavy[: len(cells)])
            xy_m = np.concatenate([cells.xy_m, light_m])
            halves = self._dictionary(begun.linearise, xy_m, guess).equations(self._gradient)
        tested = halves[1].unexplained(_fit(halves[0], penalty, signed, start=c))
        return Found(begun.linearise, guess, whole.unexplained(c), tested)

    def _first(self, linearise: LinearisationName) -> Dictionary:
        """Of the first grid; fits with one sign and with both share it, 50 MB of 1,000 cells."""

        def make() -> Dictionary:
            return self._dictionary(linearise, self._grid.xy_m, self._first_guess)

        if linearise not in self._first_grids:
            weights = self._observation.weights_before
            shared = linearise == "before"
            self._first_grids[linearise] = self._shared.at(weights, make) if shared else make()
        return self._first_grids[linearise]

    def _dictionary(
        self, linearise: LinearisationName, xy_m: NDArray[np.float64], guess: Cloud
    ) -> Dictionary:
        x = torch.from_numpy(self._header.side_knowledge.scaler.finely(xy_m))
        along = nodes(linearise, self._header, self._observation, guess)
        return Dictionary(self._header.network, along, x)


def _heaviest(shares: NDArray[np.float64], cells: Cells) -> NDArray[np.bool_]:
    """The ``MOST_SPLIT`` heaviest of the cells, which come first among the candidates."""
    order = np.argsort(-shares[: len(cells)], kind="stable")
    heaviest = np.zeros(len(shares), bool)
    heaviest[order[:MOST_SPLIT]] = True
    return heaviest


def _choose_penalty(
    fitted: Equations, tested: Equations, signed: bool
) -> tuple[float, NDArray[np.float64]]:
    """The λ whose fit to one half of the coordinates explains the other half best, and that fit."""
    fits: dict[float, NDArray[np.float64]] = {}
    for penalty in PENALTIES[:-1] if signed else PENALTIES:
        last = next(reversed(fits.values()), None)
        fits[penalty] = _fit(fitted, penalty, signed, last)
    best = min(fits, key=lambda penalty: tested.unexplained(fits[penalty]))
    return best, fits[best]


def _fit(
    equations: Equations, penalty: float, signed: bool, start: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """With one sign for all, be it plus or minus, or with a sign for each."""
    gram, b = equations.gram, equations.b
    sign = -1.0 if not signed and b.sum() < 0 else 1.0
    penalty *= float(np.abs(b).max(initial=0.0))
    start = None if start is None else sign * start
    return sign * sparse_fit(gram, sign * b, penalty, signed=signed, start=start)
