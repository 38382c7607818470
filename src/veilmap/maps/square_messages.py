"""What a phone says of the squares that it visited in a round, and how a server reads it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from veilmap.federation.map_family import Arrays
from veilmap.foreign_arrays import is_real
from veilmap.kriging.groups import medians
from veilmap.square_grid import OUTSIDE, SquareGrid
from veilmap.wording import counted

# Signals are sent in steps of 1/128 dB, in which 16 bits reach to 256 dB, and which add up without
# rounding whatever their order. Phones report whole dB.
STEP_DB = 1 / 128
MOST_DB = 255.0
VISITED, SIGNAL, SQUARES = "visited", "signal_db", "squares"

Layout = Literal["dense", "sparse"]


@dataclass(frozen=True)
class Visits:
    """The squares that a message names.

    Attributes:
        squares: their numbers.
        k: 1 for each; in a sum of messages, how many named it.
        signal_db: the deviation from the public offset in each; in a sum, of all together.
    """

    squares: NDArray[np.int64]
    k: NDArray[np.int64]
    signal_db: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.squares)

    @classmethod
    def none(cls) -> "Visits":
        """Of no square."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    @classmethod
    def of(
        cls, grid: SquareGrid, xy_m: NDArray[np.float64], deviation_db: NDArray[np.float64]
    ) -> "Visits":
        """S[c] = the median of the deviations in each square; places outside are left out."""
        square = grid.squares(xy_m)
        inside = square != OUTSIDE
        squares, group = np.unique(square[inside], return_inverse=True)
        signal_db = medians(deviation_db[inside], group) if len(squares) else np.empty(0)
        steps = np.rint(np.clip(signal_db, -MOST_DB, MOST_DB) / STEP_DB)
        return cls(squares, np.ones_like(squares), steps * STEP_DB)

    def at_most(self, most: int, draw: np.random.Generator) -> "Visits":
        """``most`` of the squares, drawn at random; all where there are no more."""
        if len(self) <= most:
            return self
        chosen = np.sort(draw.choice(len(self), most, replace=False))
        return Visits(self.squares[chosen], self.k[chosen], self.signal_db[chosen])

    def add_to(self, k: NDArray[np.int64], sums_db: NDArray[np.float64]) -> None:
        """Count them in sums over all squares, which are changed."""
        k[self.squares] += self.k
        sums_db[self.squares] += self.signal_db


@dataclass(frozen=True)
class SquareCodec:
    """Visits as the arrays of a message, and back.

    ``dense`` has one number per square of the grid, k[c] and S[c]; ``sparse`` has a list of the
    squares visited and S of each. With 16 bits S is a whole number of steps, and k one byte.
    """

    grid: SquareGrid
    layout: Layout
    bits: int

    def message(self, visits: Visits) -> Arrays:
        """What is sent."""
        signal = self._sent(visits.signal_db)
        if self.layout == "sparse":
            return {SQUARES: visits.squares.astype(np.int32), SIGNAL: signal}
        visited = np.zeros(len(self.grid), np.uint8 if self.bits == 16 else np.float32)
        everywhere = np.zeros(len(self.grid), signal.dtype)
        visited[visits.squares], everywhere[visits.squares] = 1, signal
        return {VISITED: visited, SIGNAL: everywhere}

    def visits(self, message: Arrays) -> Visits:
        """What a message without fault says, or a sum of some, which is always dense."""
        if SQUARES in message:
            squares = message[SQUARES].astype(np.int64)
            return Visits(squares, np.ones_like(squares), _in_db(message[SIGNAL]))
        squares = np.flatnonzero(message[VISITED])
        k = message[VISITED][squares].astype(np.int64)
        return Visits(squares, k, _in_db(message[SIGNAL][squares]))

    def fault(self, message: Arrays, most: int | None) -> str | None:
        """Why a message cannot be added up; None if it can."""
        names = {SQUARES, SIGNAL} if self.layout == "sparse" else {VISITED, SIGNAL}
        if set(message) != names:
            return f"arrays {', '.join(sorted(message))}, and not {', '.join(sorted(names))}"
        if not all(map(is_real, message.values())):
            return "values that are not real numbers"
        if not all(np.isfinite(values).all() for values in message.values()):
            return "numbers that are not finite"
        fault = self._list_fault(message) if self.layout == "sparse" else self._array_fault(message)
        if fault is not None:
            return fault
        visits = self.visits(message)
        if most is not None and len(visits) > most:
            return f"{counted(len(visits), 'square')}, and at most {most:,} are taken"
        if len(visits) and (most_db := float(np.abs(visits.signal_db).max())) > MOST_DB:
            return f"a signal {most_db:,.0f} dB from the offset, and {MOST_DB:g} dB are taken"
        return self._type_fault(message)

    def sum_fault(self, total: Arrays, messages: int, most: int | None) -> str | None:
        """Why k and S over all squares cannot be the sum of so many messages; None if they can."""
        k, signal_db = total[VISITED], total[SIGNAL]
        added = f"a sum of {counted(messages, 'message')}"
        other = k[(k != np.rint(k)) | (k < 0) | (k > messages)]
        if len(other):
            return f"k = {other[0]:g} for a square in {added}"
        if signal_db[k == 0].any():
            return "a signal for a square that was not visited"
        if (np.abs(signal_db) > MOST_DB * k).any():
            return f"a signal more than {MOST_DB:g} dB from the offset"
        if (signal_db != np.rint(signal_db / STEP_DB) * STEP_DB).any():
            return f"a signal that is no multiple of {STEP_DB:g} dB"
        if most is not None and k.sum() > most * messages:
            return (
                f"{counted(int(k.sum()), 'visit')} in {added}, and at most {most:,} each are taken"
            )
        return None

    def _type_fault(self, message: Arrays) -> str | None:
        """Values of other types would be read differently once they stand beside the others'."""
        honest = self.message(Visits.none())
        for name, values in message.items():
            if values.dtype != (wanted := honest[name].dtype):
                return f"{name} of type {values.dtype}, and {wanted} is taken"
        return None

    def _array_fault(self, message: Arrays) -> str | None:
        for name, values in message.items():
            if values.shape != (len(self.grid),):
                return f"{name} of shape {values.shape}, and the map has {len(self.grid):,} squares"
        visited = message[VISITED]
        other = visited[(visited != 0) & (visited != 1)]
        if len(other):
            return f"k = {other[0]:g} for a square, and 0 or 1 is taken"
        if message[SIGNAL][visited == 0].any():
            return "a signal for a square that was not visited"
        return None

    def _list_fault(self, message: Arrays) -> str | None:
        squares, signal = message[SQUARES], message[SIGNAL]
        if squares.ndim != 1 or signal.shape != squares.shape:
            return f"lists of shapes {squares.shape} and {signal.shape}, and not of one length"
        outside = squares[(squares < 0) | (squares >= len(self.grid))]
        if len(outside):
            return f"square {outside[0]:g}, and the map has {len(self.grid):,} squares"
        if squares.dtype.kind not in "iu" or len(np.unique(squares)) < len(squares):
            return "a list that names a square twice or by a fraction"
        return None

    def _sent(self, signal_db: NDArray[np.float64]) -> NDArray[np.int16] | NDArray[np.float32]:
        if self.bits == 16:
            return np.rint(signal_db / STEP_DB).astype(np.int16)
        return signal_db.astype(np.float32)


def _in_db(signal: NDArray[np.generic]) -> NDArray[np.float64]:
    """Whole numbers are steps, others dB."""
    return signal.astype(np.float64) * (STEP_DB if signal.dtype.kind in "iu" else 1.0)
