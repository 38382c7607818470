"""veilmap: federated signal maps, what they give away about people, and what stops it.

The names below are loaded when they are first used, so that ``import veilmap`` costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veilmap.errors import UserError
    from veilmap.measurements import Measurements
    from veilmap.signal_map.export import export
    from veilmap.signal_map.signal_map import SignalMap
    from veilmap.sources.columns import Columns
    from veilmap.sources.reader import read
    from veilmap.sources.reading import Reading
    from veilmap.study.settings import RunSettings
    from veilmap.study.train import Run, train
    from veilmap.transcript import Transcript

__all__ = [
    "Columns",
    "Measurements",
    "Reading",
    "Run",
    "RunSettings",
    "SignalMap",
    "Transcript",
    "UserError",
    "export",
    "read",
    "train",
]

_HOMES = {
    "Columns": "veilmap.sources.columns",
    "Measurements": "veilmap.measurements",
    "Reading": "veilmap.sources.reading",
    "Run": "veilmap.study.train",
    "RunSettings": "veilmap.study.settings",
    "SignalMap": "veilmap.signal_map.signal_map",
    "Transcript": "veilmap.transcript",
    "UserError": "veilmap.errors",
    "export": "veilmap.signal_map.export",
    "read": "veilmap.sources.reader",
    "train": "veilmap.study.train",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("veilmap")
    if name not in _HOMES:
        raise AttributeError(f"module 'veilmap' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
