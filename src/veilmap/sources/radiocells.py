"""Radiocells (openBmap) upload files: XML, one file per upload of a device.

A row is one cell of a scan, numbered by its line. Only the serving cell has its signal in dBm;
neighbours are passed over. The position is that of the ``begin`` fix, taken as the scan starts; the
``end`` fix stands in where there is no other. The older logger (FSOnen1) has one fix per scan,
without type and accuracy.
"""

from typing import Any
from xml.parsers import expat

import polars as pl

from veilmap.errors import UserError
from veilmap.sources.columns import Columns
from veilmap.sources.format import Format, cell_name

FORMAT = Format(
    name="Radiocells",
    columns=Columns(
        user="device",
        cell_column="mcc-mnc-id",
        time="time",
        lat="lat",
        lon="lng",
        signal="ss",
        accuracy="accuracy",
    ),
    derived={"mcc-mnc-id": cell_name("mcc", "mnc", "id")},
    radio="act",
    neighbour=pl.col("element") == "gsmneighbour",
    one_file_per_upload=True,
)
_OF_SCAN = ("device", "time", "lat", "lng", "accuracy")
_OF_CELL = ("mcc", "mnc", "lac", "id", "ss", "act")
COLUMN_TYPES: dict[str, pl.DataType] = {
    "row": pl.UInt32(),
    **dict.fromkeys((*_OF_SCAN, "element", *_OF_CELL), pl.String()),
}

# What distinguishes phones in uploads.
DEVICE = ("manufacturer", "model", "revision", "swid", "swver")
_CELLS = ("gsmserving", "gsmneighbour")
# Log, scan, fix: logs are not deeper, and every level takes memory.
_DEEPEST = 20
# Of values that a log or scan has once and that are repeated in each of its rows.
LONGEST = 1000
# Where a log has no exportver: version of the logger → the fixes whose lat and lng are swapped.
_SWAPPED = {
    **dict.fromkeys(("00.6.00", "00.6.01", "00.6.02"), ("begin", "end", "")),
    "00.7.00": ("end",),
}


def parse(content: bytes, name: str) -> list[tuple[Any, ...]]:
    """The cells of all scans, as tuples in the order of ``COLUMN_TYPES``.

    Raises:
        UserError: it is broken XML, declares entities, or is not a log of cells.
    """
    parser = expat.ParserCreate()
    log = _Log(name, parser)
    parser.StartElementHandler, parser.EndElementHandler = log.start, log.end
    parser.StartDoctypeDeclHandler = log.refuse_doctype
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise UserError(
            f"{name} is broken XML at line {error.lineno}, column {error.offset + 1} "
            f"({expat.ErrorString(error.code)}); fetch it again or leave it out"
        ) from None
    except (LookupError, UnicodeError) as error:
        raise UserError(f"{name} has an unknown encoding ({error}); convert it to UTF-8") from None
    if not log.rows:
        raise UserError(f"{name} has no cell in it; give logs with <gsmserving> elements")
    return log.rows


class _Log:
    """The state of the parser: the rows so far, and the current scan."""

    def __init__(self, name: str, parser: expat.XMLParserType) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self._name, self._parser, self._depth = name, parser, 0
        self._device: str | None = None
        self._swapped: tuple[str, ...] = ()
        self._time: str | None = None
        self._fixes: dict[str, dict[str, str]] = {}
        self._cells: list[tuple[int, str, dict[str, str]]] = []

    def start(self, element: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UserError(f"{self._name} nests its elements too deeply for a log; leave it out")
        if element in _CELLS:
            self._cells.append((self._parser.CurrentLineNumber, element, attributes))
        elif element == "gps":
            self._fixes[attributes.get("type", "")] = attributes
        elif element == "scan":
            self._time, self._fixes, self._cells = attributes.get("time"), {}, []
        elif self._device is None:
            self._open(element, attributes)

    def end(self, element: str) -> None:
        self._depth -= 1
        if element != "scan":
            return
        kind = next((kind for kind in ("begin", "", "end") if kind in self._fixes), "")
        fix = self._fixes.get(kind, {})
        lat, lng = fix.get("lat"), fix.get("lng")
        if kind in self._swapped:
            lat, lng = lng, lat
        place = (self._device, self._time or fix.get("time"), lat, lng, fix.get("accuracy"))
        if any(len(text) > LONGEST for text in place if text):
            raise UserError(
                f"{self._name} has a device, time or position of more than {LONGEST:,} letters; "
                "leave it out"
            )
        for line, name, cell in self._cells:
            self.rows.append((line, *place, name, *map(cell.get, _OF_CELL)))

    def refuse_doctype(self, *_: object) -> None:
        raise UserError(
            f"{self._name} has a DOCTYPE, which may hide entities that swell without end; "
            "logs have none: leave it out"
        )

    def _open(self, element: str, attributes: dict[str, str]) -> None:
        if element != "logfile":
            raise UserError(
                f"{self._name} is XML but not a Radiocells log (it begins with <{element[:30]}>); "
                "leave it out"
            )
        self._device = " ".join(attributes.get(each, "") for each in DEVICE).strip()
        if "exportver" not in attributes:
            self._swapped = _SWAPPED.get(attributes.get("swver", ""), ())
