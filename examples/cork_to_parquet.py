"""Turn the zip of the Cork 5G data set (83 G-NetTrack sessions) into one Parquet file.

    python examples/cork_to_parquet.py 5G-production-dataset.zip cork.parquet [--one-user]

The data are one driver's. Every session becomes a user, so that a federation has someone to average
over; with --one-user all are the driver's. Kept are driving sessions, LTE and 5G rows (5G is
non-standalone there: RSRP is the LTE anchor's) and valid RSRP.
Raca et al., "Beyond Throughput, The Next Generation", MMSys 2020.
"""

import io
import sys
import zipfile

import polars as pl


def session(archive, name):
    frame = pl.read_csv(io.BytesIO(archive.read(name)), infer_schema=False)
    return frame.select(
        user=pl.lit(name.rsplit("/")[-1].removesuffix(".csv")),
        cell="RAWCELLID",
        time="Timestamp",
        lat=pl.col("Latitude").cast(pl.Float64),
        lon=pl.col("Longitude").cast(pl.Float64),
        rsrp=pl.col("RSRP").cast(pl.Float64, strict=False),
        mode="NetworkMode",
    )


def main(source, target, one_user=None):
    with zipfile.ZipFile(source) as archive:
        names = [
            name
            for name in archive.namelist()
            if name.endswith(".csv") and "/Driving/" in name and not name.startswith("__MACOSX")
        ]
        rows = pl.concat([session(archive, name) for name in names])
    rows = rows.filter(pl.col("mode").is_in(["LTE", "5G"]), pl.col("rsrp") > -200).drop("mode")
    if one_user == "--one-user":
        rows = rows.with_columns(user=pl.lit("driver"))
    # Two rows per second share a time stamp with a resolution of one second; equal rows are one.
    rows = rows.unique(maintain_order=True)
    rows.write_parquet(target)
    print(f"{target}: {rows.height:,} rows of {len(names)} sessions")


if __name__ == "__main__":
    main(*sys.argv[1:])
