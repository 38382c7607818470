"""veilmap's own map: sums over public squares, kriged by the server."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.errors import Checked, UserError, not_among, out_of_range, too_low
from veilmap.federation.map_family import Arrays, Footing, Prediction, Sent
from veilmap.federation.plan import Plan
from veilmap.kriging.dense import DenseKriging
from veilmap.kriging.kernel import PUBLIC
from veilmap.kriging.likelihood import fitted_kernel
from veilmap.kriging.observed import Observed
from veilmap.local_data import LocalData
from veilmap.maps.square_messages import SIGNAL, VISITED, Layout, SquareCodec, Visits
from veilmap.square_grid import SquareGrid
from veilmap.streams import stream

KernelName = Literal["fitted", "public"]
# Of fewer squares the likelihood says too little; the public kernel serves.
FEWEST_TO_FIT = 20
K, S = "visits", "signal_sums_db"


@dataclass(frozen=True)
class KrigingMap(Checked):
    """k[c] and S[c] over the squares of a public grid, added over phones and rounds.

    Attributes:
        square_m: the side of the squares; by default max(25 m, √(area / 10,000)), rounded up to
            5 m.
        most_squares: m, how many squares a phone names in a round, drawn at random; by default all
            that it visited.
        kernel: fitted by marginal likelihood, or the public one, which needs no data; with fewer
            than 20 visited squares it is the public one.
        layout: a message is dense, a number for every square, or a sparse list of those visited.
        bits: of each signal in a message, 16 or 32.
    """

    square_m: float | None = None
    most_squares: int | None = None
    kernel: KernelName = "fitted"
    layout: Layout = "dense"
    bits: int = 16

    name = "kriging"

    def _faults(self) -> Iterator[UserError]:
        if self.square_m is not None and not (isfinite(self.square_m) and self.square_m > 0):
            yield out_of_range("square_m", "a number of metres above 0", self.square_m)
        if self.most_squares is not None:
            yield from too_low(1, int, most_squares=self.most_squares)
        yield from not_among("kernel", self.kernel, ("fitted", "public"))
        yield from not_among("layout", self.layout, ("dense", "sparse"))
        if self.bits not in (16, 32):
            yield out_of_range("bits", "16 or 32", self.bits)

    def grid(self, area: Area) -> SquareGrid:
        """The public squares."""
        return SquareGrid.of(area, self.square_m)

    @property
    def square_bytes(self) -> int:
        """What a square takes in a message: the number of it or k, and S."""
        named = 4 if self.layout == "sparse" or self.bits == 32 else 1
        return named + self.bits // 8

    def start(self, plan: Plan) -> Arrays:
        """No visit to any square."""
        return dict(zip((K, S), _nothing(self.grid(plan.area)), strict=True))

    def answer(self, plan: Plan, state: Arrays, batch: LocalData, user: str, t: int) -> Arrays:
        """What was visited in the round and how strong the signal was there, but not how long."""
        codec = self._codec(plan.area)
        visits = Visits.of(codec.grid, batch.xy_m, batch.rsrp_dbm - plan.label_offset_dbm)
        if self.most_squares is not None:
            draw = stream(plan.seed, "most squares", user, t)
            visits = visits.at_most(self.most_squares, draw)
        return codec.message(visits)

    def combine(self, plan: Plan, state: Arrays, messages: Iterable[Sent], senders: int) -> Arrays:
        """The sums; nothing is forgotten, and the order does not matter."""
        k, sums_db = state[K].copy(), state[S].copy()
        for sent in messages:
            self.visits(plan.area, sent.message).add_to(k, sums_db)
        return {K: k, S: sums_db}

    def message_fault(self, plan: Plan, message: Arrays) -> str | None:
        """Why a message cannot be added up; None if it can."""
        return self._codec(plan.area).fault(message, self.most_squares)

    def told(self, plan: Plan, message: Arrays) -> int:
        """The number of squares that the message names, which stands for n."""
        return len(self.visits(plan.area, message))

    def added(self, area: Area, messages: Iterable[Arrays]) -> Arrays:
        """The sums of one round, over all squares."""
        k, sums_db = _nothing(self.grid(area))
        for message in messages:
            self.visits(area, message).add_to(k, sums_db)
        return {VISITED: k, SIGNAL: sums_db}

    def visits(self, area: Area, message: Arrays) -> Visits:
        """What a message says, or a sum of some."""
        return self._codec(area).visits(message)

    def predict(self, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]) -> Prediction:
        """The kriged mean above the labels' offset, and its standard deviation."""
        offset_dbm = footing.label_offset_dbm
        visited = np.flatnonzero(state[K])
        if not len(visited):
            everywhere = np.ones(len(xy_m))
            return Prediction(offset_dbm * everywhere, PUBLIC.std_db * everywhere)
        grid = self.grid(footing.area)
        kriged = _kriged(self.kernel, grid, *(state[name].tobytes() for name in (K, S)))
        mean_db, std_db = kriged.predict(xy_m)
        return Prediction(mean_db + offset_dbm, std_db)

    def _codec(self, area: Area) -> SquareCodec:
        return SquareCodec(self.grid(area), self.layout, self.bits)


def _nothing(grid: SquareGrid) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sums of no message."""
    return np.zeros(len(grid), np.int64), np.zeros(len(grid))


# A map is asked for many places, one call after the other, and a round may change nothing.
@lru_cache(maxsize=8)
def _kriged(kernel: KernelName, grid: SquareGrid, visits: bytes, sums: bytes) -> DenseKriging:
    """Kriging from the bytes of the two sums."""
    k, signal_db = np.frombuffer(visits, np.int64), np.frombuffer(sums)
    visited = np.flatnonzero(k)
    counts = k[visited].astype(np.float64)
    observed = Observed(grid.centres_m(visited), signal_db[visited] / counts, counts)
    is_fitted = kernel == "fitted" and len(observed) >= FEWEST_TO_FIT
    return DenseKriging.of(fitted_kernel(observed) if is_fitted else PUBLIC, observed)
