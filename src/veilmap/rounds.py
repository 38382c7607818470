"""Measurements cut into rounds of duration T, and split into training and test data."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from math import isfinite
from typing import Literal
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.errors import Checked, UserError, not_among, out_of_range, shown
from veilmap.local_data import LocalData, Round
from veilmap.measurements import Measurements
from veilmap.streams import stream
from veilmap.wording import counted

UNITS_S = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
SPLITS = {
    "random": "single rows",
    "burst": "whole bursts of one user",
    "session": "whole sessions of one user",
    "day": "whole days of one user",
    "block": "whole squares of the area",
    "chronological": "each user's last rows",
}
SplitName = Literal["random", "burst", "session", "day", "block", "chronological"]
# What else decides how large the groups of a split are.
_KNOBS = {"burst": ("--burst-gap",), "block": ("--block",)}
# Of a user with fewer, a single round decides what is found.
FEWEST_ROUNDS = 3
# A drive or a walk ends where its phone is silent for longer.
SESSION_GAP_S = 3600.0


def parse_interval(text: str) -> float:
    """The duration T in seconds, from ``1h``, ``3h``, ``1d``, ``1w``, ``30min``, ``2.5h``."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h|d|w)\s*", text)
    if not match or float(match[1]) == 0:
        raise UserError(
            f"cannot read the interval {shown(text)}; write a positive number and a unit "
            f"({', '.join(UNITS_S)}), for example 1h, 3h, 1d or 1w"
        )
    return float(match[1]) * UNITS_S[match[2]]


def origin_s(first: datetime, timezone: str, interval_s: float) -> float:
    """When round 1 begins: midnight before the first measurement, in ``timezone``.

    Rounds of an hour or a day thus begin with those of the clock, until the clock changes: all
    rounds have the same duration. Longer rounds count from the first measurement itself.
    """
    if interval_s <= UNITS_S["d"]:
        first = first.astimezone(ZoneInfo(timezone)).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
    return first.timestamp()


def round_numbers(
    time_s: NDArray[np.float64], first: datetime, timezone: str, interval_s: float
) -> NDArray[np.int64]:
    """The t of each point in time: round t covers [origin + (t-1)·T, origin + t·T)."""
    return _numbers(time_s, origin_s(first, timezone, interval_s), interval_s)


def _numbers(time_s: NDArray[np.float64], origin: float, interval_s: float) -> NDArray[np.int64]:
    return np.floor((time_s - origin) / interval_s).astype(np.int64) + 1


def cut(
    measurements: Measurements, interval_s: float, first: datetime | None = None
) -> tuple[Round, ...]:
    """D_t^k for all t and k, in time order; intervals without measurements give no round.

    ``first`` is the time of the first measurement, including those set aside.
    """
    origin = origin_s(first or measurements.first, measurements.timezone, interval_s)
    return cut_from(measurements, interval_s, origin)


def cut_from(measurements: Measurements, interval_s: float, origin: float) -> tuple[Round, ...]:
    """As ``cut``, with round 1 beginning at ``origin``, in seconds since 1970."""
    everything = pooled(measurements)
    number = _numbers(everything.time_s, origin, interval_s)
    users, user = _numbered(measurements.table["user"])
    order = np.lexsort((everything.time_s, user, number))
    everything, number, user = everything.take(order), number[order], user[order]
    data: dict[int, dict[str, LocalData]] = {}
    for start, end in _runs(number, user):
        pieces = data.setdefault(int(number[start]), {})
        pieces[users[user[start]]] = everything.rows(start, end)
    return tuple(Round(t, origin + (t - 1) * interval_s, local) for t, local in data.items())


def by_user(measurements: Measurements) -> dict[str, LocalData]:
    """All that each user measured, in time order."""
    users, user = _numbered(measurements.table["user"])
    order = np.argsort(user, kind="stable")
    everything, user = pooled(measurements).take(order), user[order]
    return {users[user[start]]: everything.rows(start, end) for start, end in _runs(user)}


def _numbered(names: pl.Series) -> tuple[list[str], NDArray[np.uint32]]:
    """The distinct names in order, and the place of each row's name among them."""
    distinct = names.unique().sort()
    return distinct.to_list(), names.cast(pl.Enum(distinct)).to_physical().to_numpy()


def _runs(*keys: NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """The bounds of the runs of sorted rows that agree in all keys."""
    changes = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(keys[0])]
    return pairwise(edges)


def cumulative(rounds: Sequence[Round]) -> Iterator[Round]:
    """Cumulative online FL: a user with data in round t trains on all its data up to t."""
    past: dict[str, LocalData] = {}
    for this in rounds:
        for user, data in this.data.items():
            past[user] = LocalData.join([past[user], data]) if user in past else data
        yield Round(this.number, this.start_s, {user: past[user] for user in this.data})


@dataclass(frozen=True)
class Split(Checked):
    """How test data are set aside.

    Attributes:
        split: burst takes whole bursts, session all that a user measures without an hour's
            silence, day whole days of a user, and block whole squares in which no one trains;
            chronological takes each user's last rows; random takes single rows, which gives
            optimistic scores: phones log bursts of one fix, and most test rows have a near copy in
            the training data.
        test_share: share of the rows that are test data.
        burst_gap_s: a burst ends where a user is silent for longer, in seconds.
        block_m: the side of the squares of a block split, in metres.
    """

    split: SplitName = "burst"
    test_share: float = 0.2
    burst_gap_s: float = 300.0
    block_m: float = 100.0

    def _faults(self) -> Iterator[UserError]:
        yield from not_among("split", self.split, SPLITS)
        if not 0 < self.test_share < 1:
            yield out_of_range("test_share", "above 0 and below 1", self.test_share)
        if not self.burst_gap_s > 0:
            yield out_of_range("burst_gap_s", "above 0 seconds", self.burst_gap_s)
        if not (isfinite(self.block_m) and self.block_m > 0):
            yield out_of_range("block_m", "a number of metres above 0", self.block_m)

    def apply(self, data: Measurements, seed: int) -> tuple[Measurements, Measurements]:
        """(training, test), disjoint, together the input."""
        is_test = self._choose(data, stream(seed, "split"))
        reached = is_test.sum() / len(data)
        # Groups are taken whole; a few large ones can make the share impossible.
        if not self.test_share / 2 <= reached <= (1 + self.test_share) / 2:
            rows = counted(len(data), "row")
            knobs = ", ".join(["--split", *_KNOBS.get(self.split, ())])
            raise UserError(
                f"a {self.split} split of {rows} gives a test share of {reached:.2f}, "
                f"far from the {self.test_share:g} wanted; give more data or another cell, or "
                f"change {knobs} or --test-share"
            )
        return data.keep(~is_test), data.keep(is_test)

    def _choose(self, data: Measurements, draw: np.random.Generator) -> pl.Series:
        if self.split == "chronological":
            return data.table.select(_is_late(self.test_share)).to_series()
        chosen = np.zeros(len(data), bool)
        if self.split == "random":
            chosen[draw.permutation(len(data))[: round(self.test_share * len(data))]] = True
            return pl.Series(chosen)
        return pl.Series(draw_groups(_ranks(data, self._group(data)), self.test_share, draw))

    def _group(self, data: Measurements) -> Sequence[pl.Expr]:
        """What rows that stay together have in common."""
        user = pl.col("user")
        if self.split == "day":
            return user, pl.col("time").dt.convert_time_zone(data.timezone).dt.date().alias("day")
        if self.split == "block":
            return [(pl.col(axis) / self.block_m).floor() for axis in ("x_m", "y_m")]
        return user, _silences(SESSION_GAP_S if self.split == "session" else self.burst_gap_s)


def sessions(data: Measurements) -> NDArray[np.int64]:
    """The session that each row is of, numbered from 0: a user without an hour's silence."""
    return _ranks(data, (pl.col("user"), _silences(SESSION_GAP_S)))


def _ranks(data: Measurements, keys: Sequence[pl.Expr]) -> NDArray[np.int64]:
    """Rows that agree in all keys have the same number."""
    ranks = data.table.select(pl.struct(*keys).rank("dense")).to_series()
    return ranks.to_numpy().astype(np.int64) - 1


def _silences(longer_than_s: float) -> pl.Expr:
    """How often the user of each row has been silent for longer."""
    gap_s = pl.col("time").diff().over("user").dt.total_microseconds().fill_null(0) / 1e6
    return (gap_s > longer_than_s).cum_sum().over("user").alias("silences")


def _is_late(share: float) -> pl.Expr:
    """The last ``share`` of each user's rows; a user with one row keeps it for training."""
    position = pl.int_range(pl.len()).over("user")
    return position >= (pl.len().over("user") * (1 - share)).ceil()


def draw_groups(
    groups: NDArray[np.int64], share: float, draw: np.random.Generator
) -> NDArray[np.bool_]:
    """Whole groups in random order; each is taken if that brings the share nearer."""
    sizes = np.bincount(groups)
    missing = share * len(groups)
    chosen = np.zeros(len(sizes), bool)
    for group in draw.permutation(len(sizes)):
        if sizes[group] < 2 * missing:
            chosen[group] = True
            missing -= sizes[group]
    return chosen[groups]


def pooled(data: Measurements) -> LocalData:
    """All rows of a table as one piece, in time order."""
    table, time_s = data.table, data.table["time"].dt.epoch("us").to_numpy() / 1e6
    return LocalData(table.select("x_m", "y_m").to_numpy(), table["rsrp_dbm"].to_numpy(), time_s)
