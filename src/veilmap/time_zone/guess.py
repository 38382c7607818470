"""The time zone of a position, guessed without a map of borders."""

import re
from functools import cache
from importlib.resources import files
from zoneinfo import available_timezones

import numpy as np
from numpy.typing import NDArray

# The principal location of every zone: public domain, of the time zone database (2025b).
_TABLE = "zone1970.tab"


def guess_timezone(lat_deg: float, lon_deg: float) -> str:
    """The zone whose principal city is nearest on the sphere, such as Europe/Athens.

    max over the zones of ⟨u, c⟩, u and c being the directions of the position and of the city. Near
    borders another country's city may be nearest; then the clock is mostly an hour off or less.
    """
    names, cities = _cities()
    return names[int(np.argmax(cities @ _direction(lat_deg, lon_deg)))]


@cache
def _cities() -> tuple[list[str], NDArray[np.float64]]:
    """Those of zones that this machine's database has."""
    known, names, directions = available_timezones(), [], []
    for line in (files(__package__) / _TABLE).read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        _, position, name, *_ = line.split("\t")
        if name in known:
            names.append(name)
            directions.append(_direction(*_degrees(position)))
    return names, np.array(directions)


def _degrees(position: str) -> tuple[float, float]:
    """Of ISO 6709: ``+3558-07900``, with seconds ``+404251-0740023``."""
    lat, lon = re.findall(r"[+-]\d+", position)
    return _angle(lat, 2), _angle(lon, 3)


def _angle(text: str, digits: int) -> float:
    """Degrees of so many digits, then minutes, then perhaps seconds."""
    sign, numbers = (-1 if text[0] == "-" else 1), text[1:]
    degrees, minutes, seconds = (
        numbers[:digits],
        numbers[digits : digits + 2],
        numbers[digits + 2 :],
    )
    return sign * (int(degrees) + int(minutes) / 60 + int(seconds or 0) / 3600)


def _direction(lat_deg: float, lon_deg: float) -> NDArray[np.float64]:
    lat, lon = np.radians(lat_deg), np.radians(lon_deg)
    return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
