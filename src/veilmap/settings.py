"""Settings from TOML, JSON and keywords: dataclasses filled and checked, all errors at once."""

import difflib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from veilmap.errors import UserError, shown

T = TypeVar("T")


def parse(kind: type[T], values: Mapping[str, Any], source: str) -> T:
    """Nested mappings, as TOML and JSON give them, as a dataclass of dataclasses."""
    faults = _unknown(kind, values)
    try:
        settings = TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        faults += [_say(fault["loc"], fault["msg"], fault["input"]) for fault in error.errors()]
    if faults:
        raise UserError(f"{source}: {'; '.join(faults)}")
    return settings


def load_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}; give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name} is not TOML: {error}") from None


def group(kind: type, flat: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Flat keywords sorted into the dataclasses that ``kind`` is made of.

    ``group(RunSettings, {"epochs": 1})`` is ``{"training": {"epochs": 1}}``.
    """
    places = {
        inner.name: outer for outer, part in get_type_hints(kind).items() for inner in fields(part)
    }
    grouped: dict[str, Any] = {}
    for name, value in flat.items():
        if name not in places:
            raise UserError(f"{source}: {_did_you_mean(name, list(places))}")
        grouped.setdefault(places[name], {})[name] = value
    return grouped


def _unknown(kind: type, values: Any, at: tuple[str, ...] = ()) -> list[str]:
    if not isinstance(values, Mapping):
        return []
    hints = get_type_hints(kind)
    faults = []
    for name, value in values.items():
        if name not in hints:
            faults.append(_did_you_mean(".".join((*at, name)), [".".join((*at, n)) for n in hints]))
        elif is_dataclass(hints[name]):
            faults += _unknown(hints[name], value, (*at, name))
    return faults


def _did_you_mean(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of: {', '.join(known)}"
    return f"unknown setting {shown(name)}; {hint}"


def _say(place: tuple[int | str, ...], message: str, value: object) -> str:
    # Our own checks say the value themselves and arrive with pydantic's prefix.
    own = message.removeprefix("Value error, ")
    where = ".".join(str(step) for step in place if not str(step).startswith(("function-", "lit")))
    return own if own != message else f"{where}: {message.lower()}, got {shown(value)}"


def plain(settings: Any) -> dict[str, Any]:
    """A dataclass in JSON's and TOML's types: lists for tuples, and no empty values."""
    return {
        name: plain(value) if is_dataclass(value) else _list(value)
        for name, value in ((each.name, getattr(settings, each.name)) for each in fields(settings))
        if value is not None
    }


def toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of plain values as TOML; JSON's text, numbers, truth values and lists are TOML too."""
    lines = []
    for name, values in tables.items():
        lines += [f"[{name}]"]
        for key, value in values.items():
            lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}"]
        lines += [""]
    return "\n".join(lines)


def _list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
