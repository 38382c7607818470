"""Simulate the table of measurements, one person after the other."""

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from veilmap.errors import UserError
from veilmap.faults import REPORTED_DBM
from veilmap.geo import LocalPlane
from veilmap.measurements import Measurements
from veilmap.sources.campus.logger import locate, moments
from veilmap.sources.campus.people import live
from veilmap.sources.campus.radio import PROVIDERS, RadioNetwork
from veilmap.sources.campus.signal import attach, drift_db, fading_db
from veilmap.sources.campus.streets import Streets
from veilmap.sources.campus.world import Campus
from veilmap.streams import stream

GROUND = LocalPlane((33.6453, -117.8427))
DECIMALS = 6  # as phones write degrees: 0.1 m, so that resting fixes repeat exactly
START = "2017-02-06"  # a Monday
TIMEZONE = "America/Los_Angeles"
# The names that the paper gives to the target's densest and second cell; others are numbered.
DENSEST, SECOND = "x204", "x355"
BURST_STEP_S = 3  # between the rows of a burst


def simulate(
    seed: int = 0, world: Campus = Campus(), watch: Callable[[Iterable[int]], Iterable[int]] = iter
) -> Measurements:
    """All measurements of the world; the same seed gives the same ones.

    What a person does and logs depends on the seed and that person alone: with more users the first
    ones stay the same. ``watch`` wraps the iteration over people, for a progress bar.
    """
    streets = Streets.draw(world, stream(seed, "campus", "streets"))
    networks = [RadioNetwork.draw(world, seed, provider) for provider in range(PROVIDERS)]
    people = [
        measure(world, streets, networks[person % PROVIDERS], seed, person)
        for person in watch(range(world.users))
    ]
    if people[0].is_empty():
        raise UserError(
            "the first person of this campus has no measurement; raise points_per_hour "
            f"(got {world.points_per_hour:g}), logged_days ({world.logged_days:g}) or days"
        )
    rows = pl.concat(people)
    rows = rows.with_columns(cell=_names(people[0], world), rsrp_dbm=levelled(people[0], world))
    return Measurements.of(
        rows.with_columns(time=_time()).drop_nulls("time").drop("second"),
        timezone=TIMEZONE,
        source=f"simulated campus (seed {seed})",
    )


def measure(
    world: Campus, streets: Streets, network: RadioNetwork, seed: int, person: int
) -> pl.DataFrame:
    """All rows of one person, with numbered cells and relative power."""
    stays = live(world, streets, network, seed, person)
    when = moments(world, stays, seed, person)
    where = locate(world, stays, when, seed, person)
    draw = stream(seed, "campus", "signal", person)
    chosen, power_db = attach(world, network, when, where, draw)
    cell = chosen * PROVIDERS + person % PROVIDERS
    power_db += drift_db(world, when.start_s, cell, seed)
    rows = draw.geometric(1 / world.burst_points, len(cell))
    # Rows outside the campus are left out.
    rows[(np.abs(where.reported_m) > world.size_m / 2).any(axis=1)] = 0
    burst = np.repeat(np.arange(len(rows)), rows)
    within = np.arange(len(burst)) - np.repeat(np.cumsum(rows) - rows, rows)
    lat_deg, lon_deg = GROUND.degrees(where.reported_m)
    columns = {
        "second": when.start_s[burst].astype(np.int64) + BURST_STEP_S * within,
        "cell": cell[burst],
        "lat_deg": lat_deg.round(DECIMALS)[burst],
        "lon_deg": lon_deg.round(DECIMALS)[burst],
        "rsrp_dbm": power_db[burst] + fading_db(world, len(burst), draw),
        "accuracy_m": where.accuracy_m[burst],
    }
    # A phone has one row in a second.
    table = pl.DataFrame(columns).unique("second", keep="first", maintain_order=True)
    return table.with_columns(user=pl.lit(str(person)))


def _names(first: pl.DataFrame, world: Campus) -> pl.Expr:
    """The first person's densest cell is x204 and its second x355; the others are x400 onwards."""
    names = {cell: f"x{400 + cell}" for cell in range(world.cells)}
    by_size = first["cell"].value_counts().sort(["count", "cell"], descending=[True, False])
    names |= dict(zip(by_size["cell"], (DENSEST, SECOND), strict=False))
    return pl.col("cell").replace_strict(names, return_dtype=pl.String)


def levelled(first: pl.DataFrame, world: Campus) -> pl.Expr:
    """Whole dBm, all cells shifted alike so that the first person's densest has the wanted mean."""
    densest = first["cell"].mode().sort()[0]
    mean_dbm = first["rsrp_dbm"].to_numpy()[(first["cell"] == densest).to_numpy()].mean()
    levelled = pl.col("rsrp_dbm") + (world.mean_dbm - float(mean_dbm))
    return levelled.round().clip(*REPORTED_DBM)


def _time() -> pl.Expr:
    """Convert from local time, by which people live; the hour skipped in spring is dropped."""
    midnight = pl.lit(START).str.to_datetime(time_unit="us")
    shown = midnight + pl.duration(seconds=pl.col("second"))
    local = shown.dt.replace_time_zone(TIMEZONE, ambiguous="earliest", non_existent="null")
    return local.dt.convert_time_zone("UTC")
