"""The world as upload rows, and as the measurements of synthetic users."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from veilmap.measurements import Measurements
from veilmap.sources.london.logs import Logs, draw_logs
from veilmap.sources.london.people import device_table, draw_people
from veilmap.sources.london.radio import draw_rsrp_dbm
from veilmap.sources.london.trips import draw_rows, in_turn
from veilmap.sources.london.world import GROUND, START, TIMEZONE, London
from veilmap.sources.radiocells import DEVICE
from veilmap.sources.stitch import ALL_CELLS, stitch
from veilmap.streams import stream


def simulate(seed: int = 0, world: London = London()) -> Measurements:
    """All measurements, by synthetic user ("0" is the background); the same seed, the same ones."""
    source = f"simulated London (seed {seed})"
    stitched = stitch(with_device_text(uploads(seed, world)), cell=ALL_CELLS, source=source)
    return Measurements.of(stitched.table, timezone=TIMEZONE, source=source)


def uploads(seed: int = 0, world: London = London()) -> pl.DataFrame:
    """The rows of all upload files, in the order of files and of time, without users."""
    logs = draw_logs(seed, world)
    people = draw_people(seed, world, logs.reach_s())
    rows = draw_rows(seed, logs, people)
    lat_deg, lon_deg = world.degrees(rows.xy_m)
    devices = device_table()[people.device[logs.contributor]]
    files = devices.with_columns(
        file=file_names(seed, logs), cell=pl.format("x{}", pl.Series(logs.cell))
    )
    table = files[rows.file].select(
        "file",
        *DEVICE,
        "cell",
        time=_moment(rows.second),
        # Six decimals, as phones write them.
        lat_deg=pl.Series(lat_deg.round(6)),
        lon_deg=pl.Series(lon_deg.round(6)),
        rsrp_dbm=pl.Series(draw_rsrp_dbm(seed, world, rows.file, GROUND.metres(lat_deg, lon_deg))),
        accuracy_m=pl.Series(rows.accuracy_m),
    )
    return table.sort("file", "time")


def with_device_text(rows: pl.DataFrame) -> pl.DataFrame:
    """As a reader of upload files gives them: the user of a row is the text of its device."""
    return rows.select(pl.concat_str(DEVICE, separator=" ").alias("user"), pl.exclude(DEVICE))


def file_names(seed: int, logs: Logs) -> pl.Series:
    """By the time of the upload, minutes after the last row; in UTC, where no hour comes twice."""
    wait_s = stream(seed, "london", "names").integers(60, 3600, len(logs.rows))
    second = logs.start_s + logs.duration_s + wait_s
    order = np.argsort(second, kind="stable")
    second[order] = in_turn(second[order])  # so that names are unique
    stamp = _moment(second).dt.to_string("%Y%m%d%H%M%S")
    return pl.select(pl.format("V2_234_log{}-cellular.xml", stamp)).to_series()


def _moment(second: NDArray[np.int64]) -> pl.Expr:
    start = pl.lit(START).str.to_datetime(time_unit="us").dt.replace_time_zone("UTC")
    return start + pl.duration(seconds=pl.lit(pl.Series(second)))
