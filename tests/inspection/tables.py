"""Small tables of measurements, written row by row."""

from datetime import UTC, datetime, timedelta

import polars as pl

from veilmap.measurements import Measurements

START = datetime(2024, 1, 1, 10, tzinfo=UTC)
LAT_DEG, LON_DEG = 51.5, -0.1


def measured(*rows, source="memory"):
    """Rows of (user, cell, hours after 10:00, degrees north, degrees east, dBm)."""
    users, cells, hours, north, east, dbm = zip(*rows, strict=True)
    return Measurements.of(
        pl.DataFrame(
            {
                "user": users,
                "cell": cells,
                "time": [START + timedelta(hours=hour) for hour in hours],
                "lat_deg": [LAT_DEG + degrees for degrees in north],
                "lon_deg": [LON_DEG + degrees for degrees in east],
                "rsrp_dbm": [float(value) for value in dbm],
                "accuracy_m": [5.0] * len(rows),
            },
            schema_overrides={"time": pl.Datetime("us", "UTC")},
        ),
        source=source,
    )


def steps(user, cell, hours, north=0.0, east=0.0, dbm=-90):
    """One user standing still at one place, measured at each of the hours."""
    return [(user, cell, hour, north, east, dbm) for hour in hours]
