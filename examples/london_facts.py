"""Print the table of docs/london.md: the published facts beside the simulated world's.

    python examples/london_facts.py [SEEDS]

The second column of numbers is seed 0, the third the range over the seeds 0, 1, … (five of them).
EMD is the square root of the sliced W1 in metres.
"""

import sys
from itertools import combinations, product

import numpy as np
import polars as pl
from pyproj import Geod

from veilmap.measurements import Measurements
from veilmap.metrics.transport import emd_paper
from veilmap.sources import london
from veilmap.sources.london.uploads import with_device_text
from veilmap.sources.stitch import stitch
from veilmap.streams import stream

PUBLISHED = {
    "upload files in all": "about 3,500",
    "upload files of x455": "1,351",
    "measurements of x455": "64,302",
    "months": "8.5",
    "extent, km²": "about 5,167",
    "measurements per 2 h of logging": "16",
    "candidates at Z = 1 mile": "933",
    "users kept": "5",
    "their files": "292",
    "background files": "1,059",
    "user with the most measurements": "3",
    "its weekly batches": "26",
    "its measurements per batch": "about 50",
    "share of its batches below 50": "most",
    "measurements per batch, users 1-5": "about 50",
    "EMD of users 1-4 to one another, largest": "alike",
    "EMD of users 1-4 to 0 and 5, smallest": "unlike",
    "EMD of random points in its box to user 3": "34",
    "EMD of the centroids of its weeks to user 3": "",
    "mean RSRP, dBm": "about -96 (campus)",
    "RMSE of a constant, dB": "",
    "the same, user 3 alone": "",
}


def main(seeds="5"):
    worlds = [facts(seed) for seed in range(int(seeds))]
    print(f"| fact | published | seed 0 | seeds 0-{len(worlds) - 1} |\n| --- | --- | --- | --- |")
    for name, published in PUBLISHED.items():
        values = [world[name] for world in worlds]
        low, high = shown(min(values)), shown(max(values))
        spread = low if low == high else f"{low} to {high}"
        print(f"| {name} | {published or '-'} | {shown(values[0])} | {spread} |")


def facts(seed):
    uploads = london.uploads(seed)
    found = stitch(with_device_text(uploads))
    table = Measurements.of(found.table).table
    target = max(found.users, key=lambda user: user.rows)
    values = [
        uploads["file"].n_unique(),
        found.files,
        table.height,
        (table["time"].max() - table["time"].min()).days / (365.25 / 12),
        np.prod(extent_km(table)),
        per_2_hours(uploads.filter(pl.col("cell") == "x455")),
        found.candidates,
        len(found.users),
        sum(user.files for user in found.users),
        found.background_files,
        int(target.name),
        target.weeks,
        target.rows / target.weeks,
        share_of_small_batches(table, target.name),
        sum(user.rows for user in found.users) / sum(user.weeks for user in found.users),
        *similarity({user: positions(table, user) for user in "012345"}),
        emd_paper(weekly_centroids(table, "3"), positions(table, "3")),
        table["rsrp_dbm"].mean(),
        table["rsrp_dbm"].std(),
        table.filter(pl.col("user") == "3")["rsrp_dbm"].std(),
    ]
    return dict(zip(PUBLISHED, values, strict=True))


def positions(table, user):
    return table.filter(pl.col("user") == user).select("x_m", "y_m").to_numpy()


def extent_km(table):
    """As ``veilmap inspect`` shows it: along the middle latitude, and north-south."""
    south, north = table["lat_deg"].min(), table["lat_deg"].max()
    west, east = table["lon_deg"].min(), table["lon_deg"].max()
    earth, middle = Geod(ellps="WGS84"), (south + north) / 2
    width_m = earth.line_length([west, east], [middle, middle])
    return width_m / 1000, earth.line_length([west, west], [south, north]) / 1000


def per_2_hours(rows):
    files = rows.group_by("file").agg(pl.len(), (pl.max("time") - pl.min("time")).alias("span"))
    return 7200 * files["len"].sum() / files["span"].dt.total_seconds().sum()


def share_of_small_batches(table, user):
    return (by_week(table, user).len()["len"] < 50).mean()


def weekly_centroids(table, user):
    """What an attacker learns who inverts every weekly update perfectly."""
    return by_week(table, user).agg(pl.mean("x_m", "y_m")).select("x_m", "y_m").to_numpy()


def by_week(table, user):
    week = (pl.col("time") - table["time"].min()).dt.total_days() // 7
    return table.filter(pl.col("user") == user).group_by(week)


def similarity(points):
    """Largest EMD within users 1-4, smallest to 0 and 5, and that of random points to user 3."""
    target, draw = points["3"], stream(0, "random points")
    random = draw.uniform(target.min(axis=0), target.max(axis=0), target.shape)
    points["0"] = points["0"][::20]  # enough of 59,338 for two digits
    alike = max(emd_paper(points[one], points[other]) for one, other in combinations("1234", 2))
    unlike = min(emd_paper(points[one], points[other]) for one, other in product("1234", "05"))
    return alike, unlike, emd_paper(random, target)


def shown(value):
    return f"{value:,}" if isinstance(value, int) else f"{value:,.{2 if 0 < value < 1 else 1}f}"


if __name__ == "__main__":
    main(*sys.argv[1:])
