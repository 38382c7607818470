"""The whole batch's distribution from one update: where the user was, not only on average.

The update is linear in the measure μ = Σ r_i δ_{x_i}. While the residuals r_i share one sign, μ is
a heat map of the user's points, and least squares with that sign over a grid recovers it. Where
they change sign, μ is signed and |μ| still shows the places, though no longer how much time each
took. Every choice is made without the truth: by how well a fit to half of the update's coordinates
explains the other half.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from veilmap.attacks.cells import Cells
from veilmap.attacks.linearisation import LinearisationName, nodes
from veilmap.attacks.matching import leaked_gradient
from veilmap.attacks.neurons import Neurons
from veilmap.attacks.normal_equations import Dictionary, Equations
from veilmap.attacks.reconstruction import Cloud, Reconstruction, one_by_one
from veilmap.attacks.search import Search
from veilmap.attacks.sparse import sparse_fit
from veilmap.attacks.tangent import as_blocks
from veilmap.errors import UserError, out_of_range, refuse, unknown_choice
from veilmap.federation.observation import Observation
from veilmap.federation.side_knowledge import Header
from veilmap.model.network import Floats

SignName = Literal["one", "both"]
# λ relative to the largest |b|, from few terms to many; a solution starts the next.
PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 0.0)
# A signed measure explains more than one without sign anyhow; it must explain clearly more.
CLEARLY = 0.5
# A map that leaves no more of the set-aside half unexplained needs no second sign.
WELL_EXPLAINED = 1e-3
# A cell below this share of the mass is not looked at more closely, and not reported.
LEAST_SHARE = 1e-2


@dataclass(frozen=True)
class Heatmap:
    """Least squares over cells, ever smaller where the mass is.

    Attributes:
        cells: about so many in the first grid, over the whole area.
        finest_m: cells with mass are quartered until their side is at most so many metres.
        linearise: where the tangent is taken; by default what explains the update best.
        sign: whether residuals have ``one`` sign or ``both``; by default what explains it best.
    """

    cells: int = 1000
    finest_m: float = 15.0
    linearise: LinearisationName | Literal["auto"] = "auto"
    sign: SignName | Literal["auto"] = "auto"
    oracle = False

    def __post_init__(self) -> None:
        refuse(self._faults())

    def _faults(self) -> Iterator[UserError]:
        if self.cells < 4:
            yield out_of_range("cells", "at least 4", self.cells)
        if not 0 < self.finest_m < np.inf:
            yield out_of_range("finest_m", "above 0 metres", self.finest_m)
        places = (*get_args(LinearisationName), "auto")
        if self.linearise not in places:
            yield unknown_choice("linearise", self.linearise, places)
        signs = (*get_args(SignName), "auto")
        if self.sign not in signs:
            yield unknown_choice("sign", self.sign, signs)

    def attack(
        self,
        header: Header,
        observations: Sequence[Observation],
        on_done: Callable[[int], None] = lambda count: None,
    ) -> list[Reconstruction]:
        """One reconstruction per update; users who started from the same weights share a grid."""
        shared = _SharedGrid()
        return one_by_one(
            lambda header, observation: self._one(header, observation, shared),
            header,
            observations,
            on_done,
        )

    @torch.inference_mode()
    def _one(
        self, header: Header, observation: Observation, shared: "_SharedGrid"
    ) -> Reconstruction:
        before = time.perf_counter()
        if not leaked_gradient(observation).any():
            return Reconstruction.nothing(observation)
        recovery = _Recovery(self, header, observation, shared)
        first: SignName = "both" if self.sign == "both" else "one"
        names = self._names(header)
        coarse = [recovery.begin(name, first) for name in names]
        best = recovery.refine(min(coarse, key=lambda each: each.held_out))
        if self.sign == "auto" and best.held_out > WELL_EXPLAINED:
            signed = recovery.refine(recovery.begin(best.linearise, "both"))
            best = signed if signed.held_out < CLEARLY * best.held_out else best
        alone = recovery.one_place(best.linearise)
        best = alone if alone.held_out <= best.held_out else best
        if not len(best.cloud.weights):
            return Reconstruction.nothing(observation)
        seconds = time.perf_counter() - before
        return Reconstruction.of(
            observation,
            best.cloud.mean_m,
            cosine=float(np.sqrt(max(1 - best.unexplained, 0.0))),
            seconds=seconds,
            cloud=best.cloud,
        )

    def _names(self, header: Header) -> tuple[LinearisationName, ...]:
        if self.linearise != "auto":
            return (self.linearise,)
        single_step = header.side_knowledge.training.name == "fedsgd"
        return ("before",) if single_step else ("before", "middle", "path")


@dataclass(frozen=True)
class _Found:
    """A heat map, and the share of the update that it leaves unexplained."""

    linearise: LinearisationName
    cloud: Cloud
    unexplained: float
    held_out: float


@dataclass(frozen=True)
class _Begun:
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


class _SharedGrid:
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


class _Recovery:
    """One update, explained with several linearisations and signs."""

    def __init__(
        self, settings: Heatmap, header: Header, observation: Observation, shared: _SharedGrid
    ) -> None:
        self._settings, self._header, self._observation = settings, header, observation
        self._shared = shared
        self._gradient = as_blocks(header.network, leaked_gradient(observation))
        self._first_grids: dict[LinearisationName, Dictionary] = {}
        guess_m = Neurons().one(header, observation).xy_m
        middle_m = header.side_knowledge.area.centre_m
        self._first_guess = Cloud.at(guess_m if np.isfinite(guess_m).all() else middle_m)

    def one_place(self, linearise: LinearisationName) -> _Found:
        """What a single place explains: a phone that rested needs no map of cells."""
        search = Search(inside=True, exact_m=0.1).one(self._header, self._observation)
        halves = self._dictionary(linearise, search.xy_m[None], search.cloud).equations(
            self._gradient
        )
        whole = halves[0] + halves[1]
        c = _fit(whole, 0.0, signed=False)
        tested = halves[1].unexplained(_fit(halves[0], 0.0, signed=False))
        return _Found(linearise, search.cloud, whole.unexplained(c), tested)

    def begin(self, linearise: LinearisationName, sign: SignName) -> "_Begun":
        """The fit over the first grid, with the penalty that suits it."""
        cells = Cells.cover(self._header.side_knowledge.area, self._settings.cells)
        halves = self._equations(linearise, cells, self._first_guess)
        penalty, fitted = _choose_penalty(*halves, sign == "both")
        return _Begun(
            linearise, sign, cells, halves, penalty, fitted, halves[1].unexplained(fitted)
        )

    def refine(self, begun: "_Begun") -> _Found:
        """From the first grid to the finest."""
        cells, halves, penalty, signed = begun.cells, begun.halves, begun.penalty, begun.signed
        start: NDArray[np.float64] | None = begun.fitted
        while True:
            whole = halves[0] + halves[1]
            c, start = _fit(whole, penalty, signed, start), None
            shares = np.abs(c) / (np.abs(c).sum() or 1.0)
            heavy = shares > LEAST_SHARE
            guess = Cloud(cells.xy_m[heavy], shares[heavy] / (shares[heavy].sum() or 1.0))
            if cells.side_m <= self._settings.finest_m or not heavy.any():
                break
            cells = cells.split(heavy)
            halves = self._equations(begun.linearise, cells, guess)
        tested = halves[1].unexplained(_fit(halves[0], penalty, signed, start=c))
        return _Found(begun.linearise, guess, whole.unexplained(c), tested)

    def _equations(
        self, linearise: LinearisationName, cells: Cells, guess: Cloud
    ) -> tuple[Equations, Equations]:
        def make() -> Dictionary:
            return self._dictionary(linearise, cells.xy_m, guess)

        if guess is not self._first_guess:
            return make().equations(self._gradient)
        # The fit with both signs begins on the same grid as that with one; 1,000 cells are 50 MB.
        if linearise not in self._first_grids:
            weights = self._observation.weights_before
            shared = linearise == "before"
            self._first_grids[linearise] = self._shared.at(weights, make) if shared else make()
        return self._first_grids[linearise].equations(self._gradient)

    def _dictionary(
        self, linearise: LinearisationName, xy_m: NDArray[np.float64], guess: Cloud
    ) -> Dictionary:
        x = torch.from_numpy(self._header.side_knowledge.scaler.finely(xy_m))
        along = nodes(linearise, self._header, self._observation, guess)
        return Dictionary(self._header.network, along, x)


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
