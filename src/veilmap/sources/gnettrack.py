"""G-NetTrack Pro: the raw log (tabs), and the comma variant of the Cork 5G data set.

In the log, ``Node`` and ``CellID`` together are the cell: for LTE the 28-bit number whose last 8
bits are the sector (3GPP TS 36.413). A ``CellID`` beyond 8 bits is taken as the whole number.
``Operator`` is mcc and mnc in one. Times are local.
"""

from dataclasses import replace

import polars as pl

from veilmap.sources.columns import Columns
from veilmap.sources.format import Format, known

_NAME = "G-NetTrack Pro"
_PLACE = ("Timestamp", "Longitude", "Latitude")
_SHARED = Columns(time="Timestamp", lat="Latitude", lon="Longitude", accuracy="Accuracy")
_SECTORS = 256

_OPERATOR = known("Operator").str.extract(r"^(\d{3}\d{2,3})$").str.replace(r"^\d{3}", "${0}-")
_SECTOR, _NODE = (known(each).cast(pl.Int64, strict=False) for each in ("CellID", "Node"))
_NUMBER = pl.when(_SECTOR < _SECTORS).then(_NODE * _SECTORS + _SECTOR).otherwise(_SECTOR)
_CELL = pl.when((_SECTOR >= 0) & (_NUMBER >= 0)).then(_NUMBER)

LOG = Format(
    name=_NAME,
    signature=(*_PLACE, "Operator", "Node", "CellID", "NetworkTech", "Level"),
    columns=replace(_SHARED, cell_column="Operator-Node-CellID", signal="Level"),
    derived={"Operator-Node-CellID": pl.concat_str(_OPERATOR, _CELL, separator="-")},
    radio="NetworkTech",
)

# 5G is non-standalone there: RSRP is that of the LTE anchor.
CORK = Format(
    name=_NAME,
    signature=(*_PLACE, "NetworkMode", "RSRP", "RAWCELLID"),
    columns=replace(_SHARED, cell_column="RAWCELLID", signal="RSRP"),
    radio="NetworkMode",
)
