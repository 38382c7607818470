"""Tower Collector's CSV export.

The signal is ``rsrp`` for LTE and ``ss_rsrp`` for 5G; exports of older versions have only ``dbm``,
which is the same quantity in LTE and 5G rows. Neighbouring cells are skipped: LTE phones know their
signal, but hardly ever their identity.
"""

import polars as pl

from veilmap.sources.columns import Columns
from veilmap.sources.format import Format, cell_name, number

FORMAT = Format(
    name="Tower Collector",
    signature=("mcc", "mnc", "cell_id", "dbm", "lat", "lon", "measured_at", "net_type"),
    columns=Columns(
        user="device",
        cell_column="mcc-mnc-cell_id",
        time="measured_at",
        lat="lat",
        lon="lon",
        signal="rsrp, ss_rsrp or dbm",
        accuracy="accuracy",
    ),
    optional=("rsrp", "ss_rsrp", "neighboring"),
    derived={
        "mcc-mnc-cell_id": cell_name("mcc", "mnc", "cell_id"),
        "rsrp, ss_rsrp or dbm": pl.coalesce(number("rsrp"), number("ss_rsrp"), number("dbm")),
    },
    radio="net_type",
    neighbour=pl.col("neighboring").cast(pl.String).str.to_lowercase().is_in(["1", "true"]),
)
