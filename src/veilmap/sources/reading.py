"""How the rows of a file are interpreted, and which of them are wanted."""

from collections.abc import Iterator
from dataclasses import dataclass
from zoneinfo import available_timezones

import polars as pl

from veilmap.errors import Checked, UserError, fault_of, out_of_range, shown
from veilmap.geo import box_faults
from veilmap.sources.timestamps import parse_moment


@dataclass(frozen=True)
class Reading(Checked):
    """How rows are interpreted and which are wanted.

    A row that lacks a value passes the filter on that value.

    Attributes:
        timezone: time zone of times without an offset, of the midnights at which days begin, and
            of nights; by default the one stored in the file by veilmap, else UTC where times have
            no offset, else guessed from the position.
        time_format: format of the times, such as "%d.%m.%Y %H:%M:%S"; guessed by default.
        max_accuracy_m: leave out positions known to be less accurate than this, in metres.
        since: leave out rows before this time, such as 2017-08-30.
        until: leave out rows at or after this time.
        box: west, south, east, north in degrees; leave out rows outside.
        drop_invalid: leave out invalid rows, counted by kind, instead of refusing the file.
        keep_going: leave out the files of a folder or archive that cannot be read, named with the
            reason, instead of stopping at the first.
    """

    timezone: str | None = None
    time_format: str | None = None
    max_accuracy_m: float | None = None
    since: str | None = None
    until: str | None = None
    box: tuple[float, float, float, float] | None = None
    drop_invalid: bool = False
    keep_going: bool = False

    def _faults(self) -> Iterator[UserError]:
        if self.timezone is not None and self.timezone not in available_timezones():
            yield UserError(
                f"unknown time zone {shown(self.timezone)}; give an IANA name such as Europe/Athens"
            )
        else:
            for text in (self.since, self.until):
                yield from fault_of(parse_moment, text or "1970-01-01", self.timezone or "UTC")
        if self.max_accuracy_m is not None and not self.max_accuracy_m > 0:
            yield out_of_range("max_accuracy_m", "above 0 metres", self.max_accuracy_m)
        if self.box is not None:
            yield from box_faults("box", self.box)

    def unwanted(self, timezone: str) -> list[pl.Expr]:
        """Conditions over the canonical columns; a row that meets one is left out."""
        conditions = []
        if self.max_accuracy_m is not None:
            conditions.append(pl.col("accuracy_m") > self.max_accuracy_m)
        if self.since is not None:
            conditions.append(pl.col("time") < parse_moment(self.since, timezone))
        if self.until is not None:
            conditions.append(pl.col("time") >= parse_moment(self.until, timezone))
        if self.box is not None:
            west, south, east, north = self.box
            inside_lon = pl.col("lon_deg").is_between(west, east)
            conditions.append(~(inside_lon & pl.col("lat_deg").is_between(south, north)))
        return conditions
