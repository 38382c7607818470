"""A simulated campus: a few people between home, work and a third place, under 25 cells.

A first world, with the scale of the paper's campus data (7 users, 25 cells, 11 weeks, about
3 km²); it is not yet calibrated fact by fact. Its layout was changed once after a look at training:
where every point took its strongest cell, a cell saw each user in one place only, and FedAvg's RMSE
rose over the rounds. Now a phone's choice of cell varies by the hour, so that a cell covers both
home and work, as the paper's x204 does.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.geo import Projection
from veilmap.measurements import Measurements
from veilmap.streams import stream

Array = NDArray[np.float64]

CENTRE_DEG = (33.6453, -117.8427)
START = "2017-02-06"  # a Monday
TIMEZONE = "America/Los_Angeles"
HOME, WORK, OTHERS = 0, 1, 6  # places 2 to 7 are shops, friends, the gym …


@dataclass(frozen=True)
class Campus:
    """The parameters of the world; lengths in metres, powers in dB."""

    users: int = 7
    days: int = 77
    cells: int = 25
    width_m: float = 2000.0
    height_m: float = 1500.0
    # The first user logs this share of the waking and sleeping hours, the others less.
    logging_share: float = 0.35
    points_per_hour: float = 80.0
    fix_spread_m: float = 12.0
    path_loss_exponent: float = 3.2
    power_at_1_m_dbm: float = -13.0
    # What a phone adds per hour and cell when it chooses: load, hysteresis, handover history.
    choice_db: float = 8.0
    shadowing_db: float = 6.0
    shadowing_length_m: float = 120.0
    fading_db: float = 2.5


def simulate(seed: int = 0, world: Campus = Campus()) -> Measurements:
    """All measurements of the world; the same seed gives the same ones."""
    walks = pl.concat([_walk(world, seed, user) for user in range(world.users)])
    xy = walks.select("x", "y").to_numpy()
    cell, rsrp_dbm = _serving_cell(world, seed, xy, walks["choice"].to_numpy())
    centre = np.array([[CENTRE_DEG[0]], [CENTRE_DEG[1]]])
    projection = Projection.utm_for(*centre)
    lat_deg, lon_deg = projection.degrees(xy + projection.metres(*centre))
    start = pl.lit(START).str.to_datetime(time_unit="us").dt.replace_time_zone(TIMEZONE)
    frame = walks.select(
        "user",
        cell=pl.Series([f"x{200 + index}" for index in cell]),
        time=(start + pl.duration(seconds=pl.col("second"))).dt.convert_time_zone("UTC"),
        # Six decimals, as phones write them: 0.1 m, so that resting fixes repeat exactly.
        lat_deg=pl.Series(lat_deg.round(6)),
        lon_deg=pl.Series(lon_deg.round(6)),
        rsrp_dbm=pl.Series(rsrp_dbm),
        accuracy_m=pl.lit(world.fix_spread_m),
    )
    return Measurements.of(frame, timezone=TIMEZONE, source=f"simulated campus (seed {seed})")


def _walk(world: Campus, seed: int, user: int) -> pl.DataFrame:
    """One user's positions: hours with the phone's logger on, at a place or between two."""
    draw = stream(seed, "campus", "user", user)
    places = _places(world, draw)
    hours = np.flatnonzero(draw.random(24 * world.days) < world.logging_share / (1 + user / 2))
    plan = _plan(np.arange(24 * world.days + 1), draw)
    here, after = plan[hours], plan[hours + 1]
    counts = draw.poisson(world.points_per_hour, len(hours))
    which = np.repeat(np.arange(len(hours)), counts)
    moment = draw.random(counts.sum())
    # The last fifth of an hour is the way to the next place; before it the phone rests.
    progress = np.clip((moment - 0.8) / 0.2, 0, 1)[:, None]
    resting_fix = places[here] + draw.normal(0, world.fix_spread_m, (len(hours), 2))
    xy = resting_fix[which] * (1 - progress) + places[after][which] * progress
    jitter = draw.normal(0, world.fix_spread_m / 3, xy.shape)
    xy += jitter * (draw.random(len(xy)) < 0.3)[:, None]
    columns = {
        "user": [str(user)] * len(xy),
        "second": ((hours[which] + moment) * 3600).astype(int),
        "choice": which + user * 24 * world.days,
        "x": xy[:, 0],
        "y": xy[:, 1],
    }
    return pl.DataFrame(columns).unique("second", keep="first", maintain_order=True)


def _places(world: Campus, draw: np.random.Generator) -> Array:
    """Home near the right edge, work on the left, the others anywhere."""
    low = np.array([[0.30, -0.4], [-0.40, -0.3], *[[-0.5, -0.5]] * OTHERS])
    high = np.array([[0.45, 0.4], [-0.15, 0.3], *[[0.5, 0.5]] * OTHERS])
    return draw.uniform(low, high) * [world.width_m, world.height_m]


def _plan(hours: NDArray[np.intp], draw: np.random.Generator) -> NDArray[np.intp]:
    """Where the user is in each hour: at work from 9 to 18 on weekdays, sometimes elsewhere."""
    clock, weekday = hours % 24, hours // 24 % 7
    working = (weekday < 5) & (clock >= 9) & (clock < 18)
    place = np.where(working, WORK, HOME)
    out = (clock >= 11) & (clock < 22) & (draw.random(len(hours)) < 0.3)
    return np.where(out, draw.integers(2, 2 + OTHERS, len(hours)), place)


def _serving_cell(
    world: Campus, seed: int, xy: Array, choice: NDArray[np.int64]
) -> tuple[NDArray[np.intp], Array]:
    """The cell that each point's phone has chosen, and its signal in whole dBm."""
    draw = stream(seed, "campus", "radio")
    best, best_dbm, liking = np.zeros(len(xy), int), np.zeros(len(xy)), np.full(len(xy), -np.inf)
    for cell in range(world.cells):
        tower = draw.uniform(-1.2, 1.2, 2) * [world.width_m, world.height_m]
        distance_m = np.maximum(np.hypot(*(xy - tower).T), 10)
        loss_db = 10 * world.path_loss_exponent * np.log10(distance_m)
        dbm = world.power_at_1_m_dbm - loss_db + _shadowing(world, draw, xy)
        likes = dbm + draw.normal(0, world.choice_db, choice.max() + 1)[choice]
        better = likes > liking
        best[better], best_dbm[better] = cell, dbm[better]
        liking = np.maximum(liking, likes)
    fading = stream(seed, "campus", "fading").normal(0, world.fading_db, len(xy))
    return best, np.clip(np.round(best_dbm + fading), -140, -44)


def _shadowing(world: Campus, draw: np.random.Generator, xy: Array) -> Array:
    """A Gaussian random field with squared-exponential covariance, by 32 random waves."""
    waves = draw.normal(0, 1 / world.shadowing_length_m, (32, 2))
    phases = draw.uniform(0, 2 * np.pi, 32)
    total = np.zeros(len(xy))
    for wave, phase in zip(waves, phases, strict=True):
        total += np.cos(xy @ wave + phase)
    field: Array = world.shadowing_db * np.sqrt(2 / 32) * total
    return field
