"""OpenCelliD measurements (CSV), as Network Cell Info Lite and others export them.

``measured_at`` is in milliseconds since 1970. Some apps write ASU (0 to 97) for ``signal``: such
rows are faults at or above 0 dBm.
"""

from veilmap.sources.columns import Columns
from veilmap.sources.format import Format, cell_name

FORMAT = Format(
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
