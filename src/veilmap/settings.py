"""Settings from TOML, JSON and keywords, as checked dataclasses; reports all errors at once."""

import difflib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast, get_type_hints

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from veilmap.errors import UserError, shown, together, warn_renamed
from veilmap.strategy import Named, as_text, is_named

T = TypeVar("T")

_LONGEST_NAME = 80


def parse(kind: type[T], values: Mapping[str, Any], source: str) -> T:
    """Nested mappings, as TOML and JSON give them, as a dataclass of dataclasses."""
    # Anything but a table is left to the validation below.
    values = with_new_names(kind, values) if isinstance(values, Mapping) else values
    faults = _unknown(kind, values)
    try:
        settings = TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        faults += [_say(fault) for fault in error.errors()]
    if faults:
        raise UserError(f"{source}: {together(faults)}")
    return settings


def with_new_names(kind: Any, values: Any) -> Any:
    """Settings under the names that they have now; a class lists pairs of names as ``renamed``."""
    if not (is_dataclass(kind) and isinstance(values, Mapping)):
        return values
    hints, found = get_type_hints(kind), dict[str, Any]()
    renamed: dict[str, str] = dict(getattr(kind, "renamed", ()))
    old: str
    for old, value in values.items():
        name = renamed.get(old, old)
        if name != old:
            warn_renamed(f"the setting {old}", name)
        found[name] = with_new_names(hints.get(name), value)
    return found


class NamesMayBeNumbers:
    """For dataclasses with the name of a user or a cell, which a file may write as a number."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(coerce_numbers_to_str=True)


# Of a field that takes several values: one text or number is a list of one.
ONE_OR_MORE = BeforeValidator(lambda value: (value,) if isinstance(value, str | int) else value)


def load_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file."""
    try:
        content = path.read_bytes()
        return tomllib.loads(content.decode())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}; give a TOML file") from None
    except UnicodeDecodeError as error:
        raise UserError(
            f"{path.name} is not TOML: it is not UTF-8 ({place(error)}); convert it"
        ) from None
    # ValueError: of the library, or a number of more digits than Python reads.
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path.name} is not TOML: {error}; fix it there") from None


def load_json(content: str | bytes, source: str, way_out: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        UserError: it is broken or not an object; ``source`` begins the message, ``way_out`` ends
            it.
    """
    try:
        found = json.loads(content)
    except json.JSONDecodeError as error:
        why = f"{error.msg} at line {error.lineno}, column {error.colno}"
    except UnicodeDecodeError as error:
        why = f"not UTF-8 at {place(error)}"
    except (ValueError, RecursionError) as error:
        why = str(error)
    else:
        if isinstance(found, dict):
            return found
        why = f"it must be an object, got {shown(found)}"
    raise UserError(f"{source} ({why}); {way_out}")


def place(error: UnicodeDecodeError) -> str:
    """Where the text cannot be decoded."""
    line = error.object.count(b"\n", 0, error.start) + 1
    return f"byte {error.start:,}, line {line:,}"


def group(kind: type, flat: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Sort flat keywords into the dataclasses that ``kind`` consists of.

    ``group(RunSettings, {"epochs": 1})`` is ``{"training": {"epochs": 1}}``.
    """
    places = {
        inner.name: outer for outer, part in get_type_hints(kind).items() for inner in fields(part)
    }
    for outer, part in get_type_hints(kind).items():
        places |= {old: outer for old, _ in getattr(part, "renamed", ())}
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
    if len(name) > _LONGEST_NAME:
        return f"unknown setting {shown(name)}; choose one of: {', '.join(known)}"
    close = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {shown(close[0])}?" if close else f"choose one of: {', '.join(known)}"
    return f"unknown setting {shown(name)}; {hint}"


def _say(fault: ErrorDetails) -> str:
    # Our own checks include the value and arrive with pydantic's prefix.
    message = fault["msg"]
    own = message.removeprefix("Value error, ")
    steps = (str(step)[:_LONGEST_NAME] for step in fault["loc"])
    where = ".".join(step for step in steps if not step.startswith(("function-", "lit")))
    if fault["type"] == "missing":
        return f"{where} is missing; add it"
    if own != message:
        return own
    way_out = "" if " should " in message else "; give another"
    return f"{where}: {message.lower()}, got {shown(fault['input'])}{way_out}"


def plain(settings: Any) -> dict[str, Any]:
    """A dataclass in JSON's and TOML's types: lists for tuples, and no empty values.

    A field that is declared as a dataclass is a table; any other object with a name is its text.
    A field with ``repr=False`` is left out, as it is of a text.
    """
    hints = get_type_hints(type(settings))
    values = {each.name: getattr(settings, each.name) for each in fields(settings) if each.repr}
    return {
        name: plain(value) if is_dataclass(hints[name]) else _plain(value)
        for name, value in values.items()
        if value is not None
    }


def _plain(value: Any) -> Any:
    """Objects with a name of their own stand as the text that makes them again."""
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if not is_dataclass(value):
        # JSON has no numbers of NumPy.
        return getattr(value, "item", lambda: value)()
    return as_text(cast("Named", value)) if is_named(value) else plain(value)


def toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of plain values as TOML; JSON strings, numbers, booleans and lists are valid TOML."""
    lines = []
    for name, values in tables.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(each, ensure_ascii=False)}" for key, each in values.items()]
        lines.append("")
    return "\n".join(lines)
