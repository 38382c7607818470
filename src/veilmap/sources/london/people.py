"""The contributors: where their trips lead, and their phones."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from veilmap.errors import UserError
from veilmap.sources.london.world import GROUND, LUTON_DEG, Floats, Integers, London
from veilmap.sources.radiocells import DEVICE
from veilmap.sources.stitch import MILE_M, candidates
from veilmap.streams import stream

# Plain makers, invented models; the first of each are the most common.
MAKERS = ("samsung", "LGE", "HTC", "Sony", "motorola", "HUAWEI", "OnePlus", "Fairphone")
MODELS = 48
REVISIONS = ("6.0.1", "5.1.1", "7.0", "4.4.4")
VERSIONS = ("00.8.00", "00.8.10", "00.8.16")
SOFTWARE = "Radiobeacon"

TOWN_SHARE = 0.7  # of the contributors live around the middle of London
TOWN_MIDDLE_M = (2_000.0, -13_000.0)  # from the centre of the region
TOWN_SPREAD_M = 12_000.0
MEAN_TRIP_M = 6_000.0
USUAL_SPEED_M_S = 4.0  # a trip over the whole time of logging, rests included
MOST_EXCHANGES = 20
APART_M = MILE_M + 1_500.0  # beyond Z by more than starts of one person differ


@dataclass(frozen=True)
class People:
    """One entry per contributor; ``via_m`` holds the bends of three ways."""

    start_m: Floats
    end_m: Floats
    via_m: Floats
    device: Integers


def draw_people(seed: int, world: London, reach_s: Floats) -> People:
    """The users first, then the others; ``reach_s`` is how long each one's trips last."""
    draw = stream(seed, "london", "people")
    strangers = len(reach_s) - len(world.habits)
    start_m = _homes(world, strangers, draw)
    end_m, via_m = _trips(start_m, reach_s[len(world.habits) :], draw)
    habits = [(habit.start_km, habit.end_km, *habit.via_km) for habit in world.habits]
    known_m = 1000 * np.reshape(habits, (-1, 5, 2)) + GROUND.metres(*np.reshape(LUTON_DEG, (2, 1)))
    start_m = np.concatenate([known_m[:, 0], start_m])
    end_m = np.concatenate([known_m[:, 1], end_m])
    via_m = np.concatenate([known_m[:, 2:], via_m])
    device = _devices(world, start_m, end_m, draw)
    return People(start_m, end_m, via_m, device)


def device_table() -> pl.DataFrame:
    """The catalogue of phones; a device is a row number."""
    rows = [
        (MAKERS[model % len(MAKERS)], f"Model {model + 1}", revision, SOFTWARE, version)
        for model, revision, version in product(range(MODELS), REVISIONS, VERSIONS)
    ]
    return pl.DataFrame(rows, schema=list(DEVICE), orient="row")


def _homes(world: London, number: int, draw: np.random.Generator) -> Floats:
    half = 500 * np.array([world.width_km, world.height_km])
    town = draw.normal(TOWN_MIDDLE_M, TOWN_SPREAD_M, (number, 2))
    anywhere = draw.uniform(-half, half, (number, 2))
    return np.where(draw.random((number, 1)) < TOWN_SHARE, town, anywhere)


def _trips(start_m: Floats, reach_s: Floats, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """The trips of strangers: a few kilometres, within the available time, with a bend."""
    number = len(start_m)
    length_m = np.minimum(draw.exponential(MEAN_TRIP_M, number), USUAL_SPEED_M_S * reach_s)
    turn = draw.uniform(0, 2 * np.pi, number)
    way = length_m[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    bend = 0.25 * length_m[:, None, None] * draw.normal(size=(number, 3, 2))
    return start_m + way, (start_m + way / 2)[:, None] + bend


def _devices(world: London, start_m: Floats, end_m: Floats, draw: np.random.Generator) -> Integers:
    """Phones by popularity; neighbours with equal trips get different ones.

    So every file can be assigned to its owner, and the published number of candidates holds for
    every seed.
    """
    share = popularity()
    device = draw.choice(len(share), len(start_m), p=share)
    ends = np.column_stack([*world.degrees(start_m), *world.degrees(end_m)])
    people = pl.DataFrame(ends, schema=["start_lat", "start_lon", "end_lat", "end_lon"])
    of_the_cell = people.head(world.candidates).with_columns(cell=pl.lit("x"))
    for _ in range(MOST_EXCHANGES):
        owned = of_the_cell.with_columns(user=pl.Series(device[: world.candidates]))
        mixed_up = np.flatnonzero(~candidates(owned, APART_M).is_first_distinct().to_numpy())
        if not len(mixed_up):
            return device
        device[mixed_up] = draw.choice(len(share), len(mixed_up), p=share)
    raise UserError(
        f"the phones of {world.candidates:,} contributors cannot be distinguished in "
        f"{world.width_km:g} km by {world.height_km:g} km; lower candidates or enlarge the region"
    )


def popularity() -> Floats:
    """The share of each device: a model's falls with its rank, newer software is rarer."""
    models = 1 / np.arange(1, MODELS + 1)
    revisions, versions = np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.6, 0.3, 0.1])
    share: Floats = np.einsum("i,j,k->ijk", models / models.sum(), revisions, versions).ravel()
    return share
