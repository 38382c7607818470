"""Turn the zip of the Cork 5G data set (83 G-NetTrack sessions) into one Parquet file.

    python examples/cork_to_parquet.py 5G-production-dataset.zip cork.parquet [--one-user]

The data are one driver's. Every session becomes a user, so that a federation has several; with
--one-user all are one user's. Only the sessions on the road are kept. Raca et al., "Beyond
Throughput, The Next Generation", MMSys 2020.
"""

import sys

import polars as pl

from veilmap.measurements import Measurements
from veilmap.sources.columns import Columns
from veilmap.sources.reader import read
from veilmap.sources.reading import Reading

SESSION = r"/Driving/.*?([^/]+)\.csv$"


def main(source, target, one_user=None):
    data = read(source, Columns(user="file"), Reading(drop_invalid=True))
    driving = data.keep(pl.col("user").str.contains(SESSION)).table
    user = pl.lit("driver") if one_user == "--one-user" else pl.col("user").str.extract(SESSION)
    # With one user, equal rows of two sessions become one.
    own = driving.with_columns(user=user)
    drives = Measurements.of(own, timezone=data.timezone, drop_invalid=True)
    drives.write_parquet(target)
    print(f"{target}: {len(drives):,} rows of {driving['user'].n_unique()} sessions")


if __name__ == "__main__":
    main(*sys.argv[1:])
