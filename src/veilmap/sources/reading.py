"""How the rows of a file are understood, and which of them are wanted."""

from dataclasses import dataclass

import polars as pl

from veilmap.errors import UserError
from veilmap.sources.timestamps import check_timezone, parse_moment


@dataclass(frozen=True)
class Reading:
    """How rows are understood and which are wanted.

    A row that lacks a value passes the filter on that value.

    Attributes:
        timezone: the clock of times without an offset, and the one by which days begin.
        time_format: of the times, such as "%d.%m.%Y %H:%M:%S"; guessed when not given.
        max_accuracy_m: leave out positions known to be worse than this, in metres.
        since: leave out what is earlier, such as 2017-08-30.
        until: leave out what is at or after this time.
        box: west, south, east, north in degrees; leave out what is outside.
        drop_invalid: leave out invalid rows, counted by kind, instead of refusing the file.
    """

    timezone: str = "UTC"
    time_format: str | None = None
    max_accuracy_m: float | None = None
    since: str | None = None
    until: str | None = None
    box: tuple[float, float, float, float] | None = None
    drop_invalid: bool = False

    def __post_init__(self) -> None:
        check_timezone(self.timezone)
        for moment in (self.since, self.until):
            if moment is not None:
                parse_moment(moment, self.timezone)
        if self.box is not None and (self.box[0] >= self.box[2] or self.box[1] >= self.box[3]):
            raise UserError(
                "box must be west south east north with west < east and south < north, "
                f"got {self.box}"
            )

    def unwanted(self) -> list[pl.Expr]:
        """Conditions over the canonical columns; a row that meets one is left out."""
        conditions = []
        if self.max_accuracy_m is not None:
            conditions.append(pl.col("accuracy_m") > self.max_accuracy_m)
        if self.since is not None:
            conditions.append(pl.col("time") < parse_moment(self.since, self.timezone))
        if self.until is not None:
            conditions.append(pl.col("time") >= parse_moment(self.until, self.timezone))
        if self.box is not None:
            west, south, east, north = self.box
            inside_lon = pl.col("lon_deg").is_between(west, east)
            conditions.append(~(inside_lon & pl.col("lat_deg").is_between(south, north)))
        return conditions
