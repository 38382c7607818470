"""Arrays that objects of other packages are given, which they cannot change, and that they return.

A step, a map or an attack that wrote into what it is given would change the truth, what the server
saw, or the input of the next one, without a trace in the figures. So its own line fails:
"assignment destination is read-only".
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
_PACKAGE = __name__.partition(".")[0]


def read_only_for(owner: object, value: T) -> T:
    """The value for a method of ``owner``, with read-only arrays.

    As it is for classes of ours and those that build on one: torch wants arrays it may write to.
    """
    return value if any(map(_is_ours, type(owner).__mro__)) else _read_only(value)


def is_real(value: object) -> TypeGuard[NDArray[Any]]:
    """Whether it is an array of real numbers, of a precision that files have."""
    if not isinstance(value, np.ndarray):
        return False
    return value.dtype.kind in "iuf" and value.dtype.itemsize <= np.dtype(np.float64).itemsize


def _is_ours(kind: type) -> bool:
    is_contract = getattr(kind, "_is_protocol", False)
    return kind.__module__.partition(".")[0] == _PACKAGE and not is_contract


def _read_only(value: T) -> T:
    changed: object = value
    if isinstance(value, np.ndarray):
        changed = value.view()
        changed.flags.writeable = False
    elif isinstance(value, Mapping):
        changed = {name: _read_only(part) for name, part in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: _read_only(getattr(value, each.name)) for each in fields(value)}
        changed = replace(value, **parts)
    return changed  # type: ignore[return-value]
