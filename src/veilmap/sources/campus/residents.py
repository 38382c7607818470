"""People of the campus one by one, with what their phones measured of one tower and their homes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from veilmap.local_data import LocalData
from veilmap.sources.campus.people import HOME, places
from veilmap.sources.campus.radio import PROVIDERS, RadioNetwork
from veilmap.sources.campus.simulation import GROUND, levelled, measure
from veilmap.sources.campus.streets import Streets
from veilmap.sources.campus.world import Array, Campus
from veilmap.streams import stream


@dataclass(frozen=True)
class Resident:
    """One person.

    Attributes:
        number: in the world, from 0.
        home_m: east and north of the middle of the campus.
        data: what the phone measured of the tower, with such positions; perhaps nothing.
    """

    number: int
    home_m: Array
    data: LocalData


def residents(seed: int, world: Campus, numbers: Iterable[int]) -> Iterator[Resident]:
    """Those of the first person's provider, in the first person's densest cell.

    The same people as ``simulate`` has, whose numbers are even; one at a time, so that thousands
    fit into memory. Times are seconds from the first midnight of the world.
    """
    streets = Streets.draw(world, stream(seed, "campus", "streets"))
    network = RadioNetwork.draw(world, seed, 0)
    first = measure(world, streets, network, seed, 0)
    densest, level = first["cell"].mode().sort()[0], levelled(first, world)
    for number in numbers:
        person = PROVIDERS * number
        rows = measure(world, streets, network, seed, person)
        rows = rows.filter(pl.col("cell") == densest).with_columns(rsrp_dbm=level).sort("second")
        xy_m = GROUND.metres(rows["lat_deg"].to_numpy(), rows["lon_deg"].to_numpy())
        time_s = rows["second"].cast(pl.Float64).to_numpy()
        data = LocalData(xy_m, rows["rsrp_dbm"].to_numpy(), time_s)
        yield Resident(number, places(world, network, seed, person)[HOME], data)
