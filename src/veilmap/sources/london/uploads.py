"""Upload rows, of scans along trips, and the measurements of synthetic users made of them."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from veilmap.measurements import Measurements
from veilmap.sources.london.logs import Logs, draw_logs
from veilmap.sources.london.people import People, device_table, draw_people
from veilmap.sources.london.radio import draw_rsrp_dbm
from veilmap.sources.london.world import GROUND, START, TIMEZONE, Floats, Integers, London
from veilmap.sources.radiocells import DEVICE
from veilmap.sources.stitch import ALL_CELLS, stitch
from veilmap.streams import stream

BURST_ROWS = 3  # scans come in bursts of about so many
BURST_STEP_S = 20.0
REST = (0.2, 0.4)  # of the time at the start, and at the end, from … to …
WAYS = (0.5, 0.3, 0.2)  # how often the usual way and the two others are taken
START_SPREAD_M = 120.0  # where the logger is switched on and off: at the door, down the street
_FAR = 10**9  # seconds; keeps the files apart in one array


@dataclass(frozen=True)
class Rows:
    """One entry per measurement, by file and time."""

    file: Integers
    second: Integers
    xy_m: Floats
    accuracy_m: Floats


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


def _moment(second: Integers) -> pl.Expr:
    start = pl.lit(START).str.to_datetime(time_unit="us").dt.replace_time_zone("UTC")
    return start + pl.duration(seconds=pl.lit(pl.Series(second)))


def draw_rows(seed: int, logs: Logs, people: People) -> Rows:
    """All measurements of all files."""
    draw = stream(seed, "london", "rows")
    file = np.repeat(np.arange(len(logs.rows)), logs.rows)
    elapsed_s = _scans(logs, file, draw)
    moment = elapsed_s / logs.duration_s[file]
    accuracy_m = draw.lognormal(np.log(8), 0.4, len(file)).round(1)
    noise_m = draw.normal(0, 0.5, (len(file), 2)) * accuracy_m[:, None]
    xy_m = _positions(logs, people, file, moment, draw) + noise_m
    return Rows(file, logs.start_s[file] + elapsed_s, xy_m, accuracy_m)


def _scans(logs: Logs, file: Integers, draw: np.random.Generator) -> Integers:
    """Whole seconds since the file's start: bursts at random times, one at each end."""
    position = np.arange(len(file)) - np.repeat(np.cumsum(logs.rows) - logs.rows, logs.rows)
    bursts = np.maximum(2, np.round(logs.rows / BURST_ROWS)).astype(np.int64)
    in_file = position * bursts[file] // logs.rows[file]
    offset = np.cumsum(bursts) - bursts
    moment = draw.random(bursts.sum())
    moment[offset] = 0
    moment[offset + bursts - 1] = 1
    within_s = draw.exponential(BURST_STEP_S, len(file)) * (1 + position % BURST_ROWS)
    at_s = moment[offset[file] + in_file] * logs.duration_s[file] + within_s
    at_s = np.where(position == 0, 0, np.where(position == logs.rows[file] - 1, np.inf, at_s))
    at_s = np.minimum(at_s, logs.duration_s[file])
    # Sorted within each file, and no two scans in one second.
    return in_turn(np.sort(file * _FAR + at_s.astype(np.int64))) - file * _FAR


def in_turn(second: Integers) -> Integers:
    """Sorted times without duplicates: the later one moves."""
    turn = np.arange(len(second))
    return np.maximum.accumulate(second - turn) + turn


def _positions(
    logs: Logs, people: People, file: Integers, moment: Floats, draw: np.random.Generator
) -> Floats:
    """On a smooth curve (quadratic Bézier) from start to end, resting at both."""
    files, who = len(logs.rows), logs.contributor
    way = draw.choice(3, files, p=WAYS)
    start = people.start_m[who] + draw.normal(0, START_SPREAD_M, (files, 2))
    end = people.end_m[who] + draw.normal(0, START_SPREAD_M, (files, 2))
    # The curve meets its via point half-way, so the control point lies twice as far out.
    control = 2 * people.via_m[who, way] - (start + end) / 2
    leaves, arrives = draw.uniform(*REST, files), 1 - draw.uniform(*REST, files)
    ahead = np.clip((moment - leaves[file]) / (arrives - leaves)[file], 0, 1)
    along = (ahead**2 * (3 - 2 * ahead))[:, None]  # sets off and arrives gently
    return (
        (1 - along) ** 2 * start[file]
        + 2 * along * (1 - along) * control[file]
        + along**2 * end[file]
    )
