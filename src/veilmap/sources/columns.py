"""Which column of a file plays which role."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations

from veilmap.errors import UserError, shown
from veilmap.wording import listed

NO_COLUMN = "none"
FILE = "file"  # of several files: the name of the file of a row
ROW = "(row)"  # of raw tables, which may have a column of their own with a plainer name

Roles = Mapping[str, str | None]  # role → column; None where the role has no column

# Role → the usual names, best first, compared without case, spaces and punctuation.
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "deviceid", "device", "pseudoid", "phoneid", "phone",
             "iphoneuid", "imei", "imsi", "client", "clientid", "subscriber"),
    "cell_column": ("cell", "rawcellid", "cellid", "eci", "ecgi", "nci", "cgi", "cid"),
    "time": ("time", "timestamp", "datetime", "measuredat", "date", "utc", "epoch"),
    "lat": ("latdeg", "lat", "latitude", "gpslat", "gpslatitude"),
    "lon": ("londeg", "lon", "lng", "long", "longitude", "gpslon", "gpslongitude"),
    "signal": ("rsrpdbm", "rsrp", "ltersrp", "signaldbm", "dbm", "signal", "signalstrength",
               "rssi", "level", "ss"),
    "accuracy": ("accuracym", "accuracy", "horizontalaccuracy", "gpsaccuracy", "hacc", "rating"),
}  # fmt: skip
OPTIONAL = ("accuracy",)
REPLACEABLE = ("user", "cell_column", "accuracy")
_SHOWN = 12  # columns named in an error


@dataclass(frozen=True)
class Columns:
    """Column names that the user gives; the others are guessed from common names.

    Attributes:
        user: the user; "none" treats all rows as one user's, "file" makes each file of a folder
            or archive a user.
        time: the time; text, or seconds to nanoseconds since 1970.
        lat: latitude in degrees.
        lon: longitude in degrees.
        signal: RSRP (or another signal strength) in dBm.
        accuracy: accuracy of the position, in metres; "none" leaves it unknown.
        cell_column: the cell; "none" treats all rows as one cell's.
    """

    user: str | None = None
    time: str | None = None
    lat: str | None = None
    lon: str | None = None
    signal: str | None = None
    accuracy: str | None = None
    cell_column: str | None = None

    def resolve(self, header: Sequence[str], source: str, known: "Columns | None" = None) -> Roles:
        """Match the columns of a file to their roles.

        ``known`` are the columns of a known format: they come after the user's own and before the
        guesses. Such a format may have no user: then all rows are one user's.
        """
        matches = {role.name: self._match(role.name, header, known) for role in fields(self)}
        lacking = [lack for _, lack in matches.values() if lack]
        if lacking:
            raise UserError(
                f"{source} has no column {', none '.join(lacking)}; it has: {_names(header)}"
            )
        roles = {role: name for role, (name, _) in matches.items()}
        for one, other in combinations(("time", "lat", "lon", "signal"), 2):
            if roles[one] == roles[other]:
                raise UserError(
                    f"column {shown(roles[one])} of {source} cannot be both {one} and {other}; "
                    f"name them with --{one} and --{other}"
                )
        return roles

    def _match(
        self, role: str, header: Sequence[str], known: "Columns | None"
    ) -> tuple[str | None, str]:
        """The column of a role, and what is missing if it needs one and has none."""
        wanted: str | None = getattr(self, role)
        if wanted is not None:
            if wanted in header:
                return wanted, ""
            return None, "" if wanted == NO_COLUMN and role in REPLACEABLE else shown(wanted)
        usual = getattr(known, role, None)
        name = usual if usual in header else _guess(role, header)
        can_lack = role in OPTIONAL or (role == "user" and known is not None)
        return name, "" if name is not None or can_lack else _lack(role, header)


def _lack(role: str, header: Sequence[str]) -> str:
    """Which column is missing, and how to name it."""
    option = "--" + role.replace("_", "-")
    instead = f", or {option} {NO_COLUMN} if there is only one" if role in REPLACEABLE else ""
    if role == "user" and FILE in header:
        instead += f", or {option} {FILE} to make every file a user"
    word = role.removesuffix("_column")
    return f"that looks like the {word} (name it with {option} COLUMN{instead})"


def _guess(role: str, header: Sequence[str]) -> str | None:
    plain = {_plain(name): name for name in reversed(header)}
    return next((plain[name] for name in USUAL_NAMES[role] if name in plain), None)


def _plain(name: str) -> str:
    """``RSRP (dBm)`` and ``rsrp`` are the same name."""
    return re.sub(r"\(.*?\)|[^a-z0-9]", "", name.lower())


def _names(header: Sequence[str]) -> str:
    return listed([name[:30] for name in header], _SHOWN)
