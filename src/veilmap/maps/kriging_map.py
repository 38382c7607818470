"""veilmap's own map: sums over public squares, kriged by the server."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import hypot, isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from veilmap.area import Area
from veilmap.errors import Checked, UserError, not_among, out_of_range, too_low
from veilmap.federation.map_family import Arrays, Footing, Prediction, Sent
from veilmap.federation.plan import Plan
from veilmap.kriging.calibration import NORMAL, Calibration, calibrated
from veilmap.kriging.kernel import PUBLIC
from veilmap.kriging.krige import Kriging, krige
from veilmap.kriging.likelihood import fitted_kernel
from veilmap.kriging.observed import Observed
from veilmap.local_data import LocalData
from veilmap.maps.square_messages import SIGNAL, VISITED, Layout, SquareCodec, Visits
from veilmap.model.threads import one_thread
from veilmap.square_grid import OUTSIDE, SquareGrid
from veilmap.streams import stream

KernelName = Literal["fitted", "public"]
# Of fewer squares the likelihood says too little; the public kernel serves.
FEWEST_TO_FIT = 20
# The sums of every eighth round are kept apart, to calibrate intervals on; the map is of all.
FOLDS = 8
K, S, ROUNDS = "visits", "signal_sums_db", "rounds"


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
        """No visit to any square, in no round."""
        shape = (FOLDS, len(self.grid(plan.area)))
        return {K: np.zeros(shape, np.int64), S: np.zeros(shape), ROUNDS: np.zeros(1, np.int64)}

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
        added = self.added(plan.area, (sent.message for sent in messages))
        k, sums_db, rounds = state[K].copy(), state[S].copy(), state[ROUNDS]
        fold = int(rounds[0]) % FOLDS
        k[fold] += added[VISITED]
        sums_db[fold] += added[SIGNAL]
        # A round in which no square was visited changes nothing.
        return {K: k, S: sums_db, ROUNDS: rounds + bool(added[VISITED].any())}

    def state_fault(self, area: Area, state: Arrays) -> str | None:
        """Why a loaded state does not fit this area; None if it does."""
        sums = (FOLDS, len(self.grid(area)))
        wanted = {K: ("int64", sums), S: ("float64", sums), ROUNDS: ("int64", (1,))}
        found = {name: (str(value.dtype), value.shape) for name, value in state.items()}
        if found != wanted:
            return f"arrays {found}, and not {wanted}"
        return "negative counts of visits" if (state[K] < 0).any() else None

    def message_fault(self, plan: Plan, message: Arrays) -> str | None:
        """Why a message cannot be added up; None if it can."""
        return self._codec(plan.area).fault(message, self.most_squares)

    def sum_fault(self, plan: Plan, total: Arrays, messages: int) -> str | None:
        """Why arrays cannot be the sum of so many messages; None if they can."""
        return self._codec(plan.area).sum_fault(total, messages, self.most_squares)

    def message_size(self, plan: Plan, message: Arrays) -> int:
        """The number of squares that the message names, which stands for n."""
        return int(self.visits(plan.area, message).k.sum())

    def added(self, area: Area, messages: Iterable[Arrays]) -> Arrays:
        """The sums of one round, over all squares."""
        squares = len(self.grid(area))
        k, sums_db = np.zeros(squares, np.int64), np.zeros(squares)
        for message in messages:
            self.visits(area, message).add_to(k, sums_db)
        return {VISITED: k, SIGNAL: sums_db}

    def visits(self, area: Area, message: Arrays) -> Visits:
        """What a message says, or a sum of some."""
        return self._codec(area).visits(message)

    def predict(self, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]) -> Prediction:
        """The kriged mean above the labels' offset, and how far off it may be.

        Intervals are those of the median that a phone would report at a place.
        """
        if not state[K].any():
            nothing, unknown = np.zeros(len(xy_m)), hypot(PUBLIC.std_db, PUBLIC.noise_db)
            return Prediction(
                nothing + footing.label_offset_dbm,
                nothing + NORMAL[0] * unknown,
                nothing + NORMAL[1] * unknown,
                nothing,
                nothing.astype(int),
            )
        kriged = self._sums(footing.area, state)
        with one_thread():
            mean_db, std_db = kriged.map.predict(xy_m)
        kernel, calibration = kriged.map.kernel, kriged.calibration
        reported_db = np.hypot(std_db, kernel.noise_db)
        square = kriged.grid.squares(xy_m)
        return Prediction(
            mean_db + footing.label_offset_dbm,
            calibration.within_68 * reported_db,
            calibration.within_95 * reported_db,
            np.clip(1 - (std_db / kernel.std_db) ** 2, 0, 1),
            np.where(square == OUTSIDE, 0, state[K].sum(axis=0)[square]),
        )

    def signal_dbm(
        self, footing: Footing, state: Arrays, xy_m: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The kriged mean alone, without the cost of its uncertainty."""
        if not state[K].any():
            return np.full(len(xy_m), footing.label_offset_dbm)
        with one_thread():
            return self._sums(footing.area, state).map.mean(xy_m) + footing.label_offset_dbm

    def calibration(self, area: Area, state: Arrays) -> Calibration:
        """What the widths of the intervals were learned from."""
        return self._sums(area, state).calibration if state[K].any() else Calibration()

    def _sums(self, area: Area, state: Arrays) -> "_Sums":
        return _kept(_Sums(self.kernel, self.grid(area), state[K], state[S]))

    def _codec(self, area: Area) -> SquareCodec:
        return SquareCodec(self.grid(area), self.layout, self.bits)


@dataclass(frozen=True, eq=False)
class _Sums:
    """The sums of all folds, kriged when they are asked; equal to others by their bytes."""

    kernel_name: KernelName
    grid: SquareGrid
    all_k: NDArray[np.int64]
    all_sums_db: NDArray[np.float64]

    @cached_property
    def digest(self) -> bytes:
        digest = hashlib.blake2b(repr((self.kernel_name, self.grid)).encode())
        digest.update(self.all_k.tobytes())
        digest.update(self.all_sums_db.tobytes())
        return digest.digest()

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sums) and self.digest == other.digest

    @cached_property
    def map(self) -> Kriging:
        """Of all folds together."""
        counts = self._k.sum(axis=0)
        mean_db = self._sums_db.sum(axis=0) / counts
        with one_thread():
            kernel = PUBLIC
            if self.kernel_name == "fitted" and len(counts) >= FEWEST_TO_FIT:
                xy_m = self.grid.centres_m(self._visited)
                kernel = fitted_kernel(Observed(xy_m, mean_db, counts))
            return krige(kernel, self.grid, self._visited, mean_db, counts)

    @cached_property
    def calibration(self) -> Calibration:
        """Of each fold from the others."""
        with one_thread():
            return calibrated(self.map.kernel, self.grid, self._visited, self._k, self._sums_db)

    @cached_property
    def _visited(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.all_k.any(axis=0))

    @property
    def _k(self) -> NDArray[np.float64]:
        return self.all_k[:, self._visited].astype(np.float64)

    @property
    def _sums_db(self) -> NDArray[np.float64]:
        return self.all_sums_db[:, self._visited]


# A map is asked for many places, one call after the other, and a round may change nothing.
@lru_cache(maxsize=2)
def _kept(sums: _Sums) -> _Sums:
    """The first of equal ones, which is kriged already."""
    return sums
