"""The local hour and day, which distinguish home from work."""

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from veilmap.errors import UserError, shown

_DAY_S = 86_400
# Since 1972 every clock has been changed at a quarter of an hour UTC, mostly at a full hour.
_QUARTER_S = 900


@dataclass(frozen=True)
class Hours:
    """When each point was measured, in local time.

    Attributes:
        hour: 0 to 24, with fractions: 13.5 is 13:30.
        day: whole days since 1970-01-01, a Thursday.
    """

    hour: NDArray[np.float64]
    day: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.hour.ndim != 1 or self.hour.shape != self.day.shape:
            raise UserError(
                "hour and day must be one value per point, got shapes "
                f"{self.hour.shape} and {self.day.shape}"
            )
        if not ((self.hour >= 0) & (self.hour <= 24)).all():
            raise UserError(f"hour must be 0 to 24, got {self.hour.min():g} to {self.hour.max():g}")

    def __len__(self) -> int:
        return len(self.hour)

    @classmethod
    def local(cls, time_s: NDArray[np.float64], timezone: str) -> "Hours":
        """From seconds since 1970 (UTC) and an IANA name such as Europe/Athens."""
        time_s = np.asarray(time_s, np.float64)
        if not np.isfinite(time_s).all():
            bad = int((~np.isfinite(time_s)).sum())
            raise UserError(f"{bad:,} of {time_s.size:,} times are not finite; leave them out")
        local_s = time_s + _offset_s(time_s, _zone(timezone))
        day = np.floor(local_s / _DAY_S)
        return cls((local_s - day * _DAY_S) / 3600, day.astype(np.int64))

    @property
    def weekday(self) -> NDArray[np.int64]:
        """0 is Monday, 6 is Sunday."""
        return (self.day + 3) % 7

    @property
    def night(self) -> NDArray[np.bool_]:
        """22:00 to 07:00, when most people are at home."""
        return (self.hour >= 22) | (self.hour < 7)

    @property
    def evening(self) -> NDArray[np.int64]:
        """The day on which the night of each point began, in whole days since 1970-01-01."""
        return self.day - (self.hour < 7)

    @property
    def work(self) -> NDArray[np.bool_]:
        """Monday to Friday, 09:00 to 17:00."""
        return (self.weekday < 5) & (self.hour >= 9) & (self.hour < 17)

    def take(self, rows: NDArray[np.intp]) -> "Hours":
        """The chosen rows, in the given order."""
        return Hours(self.hour[rows], self.day[rows])


def _offset_s(time_s: NDArray[np.float64], zone: ZoneInfo) -> NDArray[np.float64]:
    """How far the local clock is ahead of UTC; asked once per distinct quarter of an hour."""
    quarters, quarter = np.unique(np.floor(time_s / _QUARTER_S), return_inverse=True)
    offsets_s = [
        datetime.fromtimestamp(start_s, zone).replace(tzinfo=UTC).timestamp() - start_s
        for start_s in (quarters * _QUARTER_S).tolist()
    ]
    return np.array(offsets_s, np.float64)[quarter]


def _zone(timezone: str) -> ZoneInfo:
    try:
        return ZoneInfo(timezone)
    # A name with a wrong form is a ValueError, and "Europe" is a folder.
    except (KeyError, ValueError, OSError) as error:
        raise UserError(
            f"unknown time zone {shown(timezone)}; give an IANA name such as Europe/Athens"
        ) from error
