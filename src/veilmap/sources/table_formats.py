"""Tables that are known by their columns, as apps for measuring export them."""

from dataclasses import replace

import polars as pl

from veilmap.sources.columns import Columns
from veilmap.sources.format import Format, cell_name, known, number

# As Network Cell Info Lite and others export it. ``measured_at`` is in milliseconds since 1970.
# Some apps write ASU (0 to 97) for ``signal``: such rows are faults at or above 0 dBm.
OPENCELLID = Format(
    name="OpenCelliD",
    signature=("mcc", "mnc", "cellid", "lat", "lon", "signal", "measured_at"),
    columns=Columns(
        cell_column="mcc-mnc-cellid",
        time="measured_at",
        lat="lat",
        lon="lon",
        signal="signal",
        accuracy="rating",
    ),
    optional=("act",),
    derived={"mcc-mnc-cellid": cell_name("mcc", "mnc", "cellid")},
    radio="act",
)

# G-NetTrack Pro: the raw log (tabs), and the comma variant of the Cork 5G data set.
#
# In the log, ``Node`` and ``CellID`` together are the cell: for LTE the 28-bit number whose last 8
# bits are the sector (3GPP TS 36.413). A ``CellID`` beyond 8 bits is taken as the whole number.
# ``Operator`` is mcc and mnc in one. Times are local.
_NAME = "G-NetTrack Pro"
_PLACE = ("Timestamp", "Longitude", "Latitude")
_SHARED = Columns(time="Timestamp", lat="Latitude", lon="Longitude", accuracy="Accuracy")
_SECTORS = 256

_OPERATOR = known("Operator").str.extract(r"^(\d{3}\d{2,3})$").str.replace(r"^\d{3}", "${0}-")
_SECTOR, _NODE = (known(each).cast(pl.Int64, strict=False) for each in ("CellID", "Node"))
_NUMBER = pl.when(_SECTOR < _SECTORS).then(_NODE * _SECTORS + _SECTOR).otherwise(_SECTOR)
_CELL = pl.when((_SECTOR >= 0) & (_NUMBER >= 0)).then(_NUMBER)

GNETTRACK = Format(
    name=_NAME,
    signature=(*_PLACE, "Operator", "Node", "CellID", "NetworkTech", "Level"),
    columns=replace(_SHARED, cell_column="Operator-Node-CellID", signal="Level"),
    derived={"Operator-Node-CellID": pl.concat_str(_OPERATOR, _CELL, separator="-")},
    radio="NetworkTech",
)

# 5G is non-standalone there: RSRP is that of the LTE anchor.
GNETTRACK_CORK = Format(
    name=_NAME,
    signature=(*_PLACE, "NetworkMode", "RSRP", "RAWCELLID"),
    columns=replace(_SHARED, cell_column="RAWCELLID", signal="RSRP"),
    radio="NetworkMode",
)

# The signal is ``rsrp`` for LTE and ``ss_rsrp`` for 5G; exports of older versions have only
# ``dbm``, which is the same quantity in LTE and 5G rows. Neighbouring cells are skipped: LTE phones
# know their signal, but hardly ever their identity.
TOWER_COLLECTOR = Format(
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

KNOWN = (OPENCELLID, GNETTRACK, GNETTRACK_CORK, TOWER_COLLECTOR)
