"""Geosubmit version 2 (JSON), the upload format of Mozilla's location service and its heirs.

A row is one cell tower of an item. Cells marked as not serving the phone are skipped. Numbers in
quotes count as numbers; any other wrong value counts as missing, and so as a fault.
"""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from veilmap.errors import UserError, shown
from veilmap.sources.columns import Columns
from veilmap.sources.format import Format, cell_name

FORMAT = Format(
    name="Geosubmit v2",
    columns=Columns(
        cell_column="mcc-mnc-cellId",
        time="timestamp",
        lat="latitude",
        lon="longitude",
        signal="signalStrength",
        accuracy="accuracy",
    ),
    derived={"mcc-mnc-cellId": cell_name("mobileCountryCode", "mobileNetworkCode", "cellId")},
    radio="radioType",
    neighbour=pl.col("serving") == "0",
)
_OF_ITEM = ("timestamp",)
_OF_POSITION = ("latitude", "longitude", "accuracy")
_OF_TOWER = (
    "radioType", "mobileCountryCode", "mobileNetworkCode", "locationAreaCode", "cellId",
    "signalStrength", "serving",
)  # fmt: skip
COLUMN_TYPES: dict[str, pl.DataType] = {
    "row": pl.UInt32(),
    **dict.fromkeys((*_OF_ITEM, *_OF_POSITION, *_OF_TOWER), pl.String()),
}


# A tower takes about 300 bytes in the file; an empty list takes 3, and 60 in memory.
MOST_PARTS = 20_000_000
# Of values that an item has once and that are repeated in each of its rows.
LONGEST = 1000


def parse(content: bytes, name: str) -> list[tuple[Any, ...]]:
    """The cell towers of all items, as tuples in the order of ``COLUMN_TYPES``.

    Raises:
        UserError: it is broken JSON, or of another shape.
    """
    items = _part(_load(content, name), "items", list, name)
    rows = [(number, *row) for number, row in enumerate(_rows(items, name), 1)]
    if not rows:
        raise UserError(f"{name} has no cell tower in it; give items with 'cellTowers'")
    return rows


def _rows(items: list[Any], name: str) -> Iterator[tuple[str | None, ...]]:
    for number, item in enumerate(items, 1):
        place = f"{name}, item {number:,}"
        position = _part(item, "position", dict, place)
        where = (*_texts(item, _OF_ITEM), *_texts(position, _OF_POSITION))
        for tower in _part(item, "cellTowers", list, place):
            if not isinstance(tower, dict):
                raise _wrong(f"{place}, cellTowers", dict, tower)
            yield (*where, *_texts(tower, _OF_TOWER))


def _load(content: bytes, name: str) -> Any:
    if content.count(b"{") + content.count(b"[") > MOST_PARTS:
        raise UserError(f"{name} has more than {MOST_PARTS:,} objects and lists; split it")
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{name} is broken JSON at line {error.lineno}, column {error.colno} ({error.msg}); "
            "fetch it again or leave it out"
        ) from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{name} is not UTF-8 text (byte {error.start:,}, line {line:,}); convert it"
        ) from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} is JSON that cannot be read ({error}); leave it out") from None


def _part(whole: Any, key: str, kind: type, place: str) -> Any:
    """``whole[key]``; empty if absent or null, an error if of another type."""
    if not isinstance(whole, dict):
        raise _wrong(place, dict, whole)
    if key == "items" and key not in whole:
        raise UserError(f"{place} is JSON without 'items' and not a Geosubmit file; leave it out")
    part = whole.get(key)
    if part is None:
        return kind()
    if not isinstance(part, kind):
        raise _wrong(f"{place}, {shown(key)}", kind, part)
    return part


_KINDS = {
    dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null",
}  # fmt: skip


def _wrong(place: str, kind: type, value: object) -> UserError:
    found = _KINDS.get(type(value), "a number")
    return UserError(f"{place} must be {_KINDS[kind]} and is {found}; fix it or leave it out")


def _texts(values: dict[str, Any], keys: tuple[str, ...]) -> Iterator[str | None]:
    for key in keys:
        value = values.get(key)
        if key == "serving" and isinstance(value, bool):
            value = int(value)
        is_value = isinstance(value, str | int | float) and not isinstance(value, bool)
        is_value = is_value and not (isinstance(value, str) and len(value) > LONGEST)
        # JSON allows half of a surrogate pair, which tables cannot hold.
        yield str(value).encode(errors="replace").decode() if is_value else None
