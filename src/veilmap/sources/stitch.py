"""Stitch anonymous upload files into synthetic users.

The heuristic of the paper ("Creating Multiple Synthetic Users"): people repeat their trips, so two
upload files belong to one synthetic user if cell and device information are identical, their start
locations are within Z of each other, and so are their end locations. Candidates are the connected
components of this relation. Candidates with enough measurements per week over several weeks are
kept; all other files become one background user.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.errors import Checked, UserError, out_of_range, too_low
from veilmap.faults import Fault
from veilmap.geo import EARTH_RADIUS_M, Floats, distance_m
from veilmap.measurements import by_size, find_cell, sound_rows

MILE_M = 1609.344
ALL_CELLS = "all"
BACKGROUND = "0"
_FILE = ("cell", "user", "file")
_ENDS = ("start_lat", "start_lon", "end_lat", "end_lon")


@dataclass(frozen=True)
class Stitching(Checked):
    """Criteria by which files belong to one user, and by which a user is kept.

    The paper gives Z = 1 mile and says "a sufficiently high number of measurements per week" over
    "several weeks"; our numbers for the two are guesses.

    Attributes:
        distance_m: Z, largest distance between two starts, and between two ends, in metres.
        min_weeks: minimum number of weeks with measurements of a kept user.
        min_per_week: minimum average number of measurements in those weeks.
    """

    distance_m: float = MILE_M
    min_weeks: int = 8
    min_per_week: float = 30.0

    def _faults(self) -> Iterator[UserError]:
        if not 0 <= self.distance_m < np.inf:
            yield out_of_range("distance_m", "at least 0 metres and finite", self.distance_m)
        yield from too_low(1, min_weeks=self.min_weeks)
        yield from too_low(0, min_per_week=self.min_per_week)


@dataclass(frozen=True)
class SyntheticUser:
    """A kept user; ``weeks`` counts those with measurements."""

    name: str
    cell: str
    device: str
    files: int
    weeks: int
    rows: int


@dataclass(frozen=True)
class Stitched:
    """The rows with their synthetic users, and counts of the steps.

    ``table`` is what ``Measurements.of`` takes; its users are "1", "2", … by first appearance, and
    "0" for the background. A file with rows of two cells counts once in each.
    """

    table: pl.DataFrame
    files: int
    candidates: int
    users: tuple[SyntheticUser, ...]
    background_files: int
    dropped: tuple[Fault, ...] = ()


def stitch(
    uploads: pl.DataFrame,
    stitching: Stitching = Stitching(),
    *,
    cell: str | None = None,
    source: str = "memory",
    drop_invalid: bool = False,
) -> Stitched:
    """Synthetic users of one cell (None: the densest; "all": of each), from rows of upload files.

    ``uploads`` has the columns of a measurement table and ``file``; ``user`` is the device text.

    Raises:
        UserError: there is no ``file`` column, no such cell, or rows are invalid and
            ``drop_invalid`` is off.
    """
    if "file" not in uploads.columns:
        raise UserError(
            f"{source} does not say which upload file a row is from; give a folder or an archive "
            "of upload files"
        )
    sound, dropped = sound_rows(uploads, source=source, drop_invalid=drop_invalid)
    if cell != ALL_CELLS:
        sound = sound.filter(pl.col("cell") == find_cell(cell, by_size(sound, "cell"), source))
    # Weeks count from the cell's first measurement, as rounds of a week do.
    since = pl.col("time") - pl.col("time").min().over("cell")
    rows = sound.with_columns(week=since.dt.total_days() // 7)
    lat, lon = pl.col("lat_deg"), pl.col("lon_deg")
    by_file = rows.sort("time", "lat_deg", "lon_deg").group_by(_FILE, maintain_order=True)
    files = by_file.agg(
        start_lat=lat.first(), start_lon=lon.first(), end_lat=lat.last(), end_lon=lon.last()
    )
    files = files.with_columns(candidate=candidates(files, stitching.distance_m))
    rows = rows.join(files.select(*_FILE, "candidate"), on=_FILE, maintain_order="left")
    kept = _kept(rows, stitching)
    users = tuple(SyntheticUser(**user) for user in kept.drop("candidate").iter_rows(named=True))
    named = rows.join(kept.select("candidate", "name"), on="candidate", how="left")
    table = named.with_columns(user=pl.col("name").fill_null(BACKGROUND))
    return Stitched(
        table=table.drop("week", "candidate", "name"),
        files=files.height,
        candidates=files["candidate"].n_unique(),
        users=users,
        background_files=files.height - sum(user.files for user in users),
        dropped=dropped,
    )


def candidates(files: pl.DataFrame, distance_m: float) -> pl.Series:
    """A number per file, equal for the files of one potential user.

    ``files`` has cell, user (the device text) and the columns start_lat, start_lon, end_lat,
    end_lon in degrees.
    """
    label = np.full(files.height, -1)
    numbered = files.with_row_index("index")
    for group in numbered.partition_by("cell", "user", maintain_order=True):
        parts = _components(group.select(_ENDS).to_numpy(), distance_m)
        label[group["index"].to_numpy()] = label.max() + 1 + parts
    return pl.Series("candidate", label)


def _components(ends_deg: Floats, limit_m: float) -> NDArray[np.int64]:
    """Connected components, numbered from 0 in the order of their first member.

    A flood fill over the files not yet reached: memory grows with the files, not with their pairs,
    and thousands of files from one home take one step.
    """
    part = np.full(len(ends_deg), -1)
    rest = np.arange(len(ends_deg))
    number = -1
    waiting: list[int] = []
    while len(rest) or waiting:
        if not waiting:
            number += 1
            waiting, part[rest[0]], rest = [int(rest[0])], number, rest[1:]
        here = ends_deg[waiting.pop()]
        linked = _linked(ends_deg[rest], here, limit_m)
        part[rest[linked]] = number
        waiting.extend(rest[linked].tolist())
        rest = rest[~linked]
    return part


def _linked(ends_deg: Floats, here: Floats, limit_m: float) -> NDArray[np.bool_]:
    linked = np.zeros(len(ends_deg), bool)
    # Latitude alone rules most files out, at a hundredth of the cost of a distance.
    limit_deg = 1.001 * np.degrees(limit_m / EARTH_RADIUS_M) + 1e-9
    close = np.flatnonzero(np.abs(ends_deg[:, 0] - here[0]) <= limit_deg)
    starts, ends = ends_deg[close, :2].T, ends_deg[close, 2:].T
    start_m, end_m = distance_m(*starts, *here[:2]), distance_m(*ends, *here[2:])
    linked[close] = (start_m <= limit_m) & (end_m <= limit_m)
    return linked


def _kept(rows: pl.DataFrame, stitching: Stitching) -> pl.DataFrame:
    """One row per kept candidate, with the fields of ``SyntheticUser``."""
    found = rows.group_by("candidate").agg(
        pl.col("cell").first(),
        pl.col("user").first().alias("device"),
        pl.col("file").n_unique().alias("files"),
        pl.col("week").n_unique().alias("weeks"),
        pl.len().alias("rows"),
        pl.col("time").min().alias("appears"),
    )
    weeks = pl.col("weeks")
    often = pl.col("rows") >= stitching.min_per_week * weeks
    found = found.filter(weeks >= stitching.min_weeks, often)
    kept = found.sort("appears", "candidate").drop("appears")
    return kept.with_columns(name=pl.int_range(1, pl.len() + 1).cast(pl.String))
