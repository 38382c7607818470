"""Compiling with numba, for those who have it.

What is compiled is kept beside the source until its file changes. The kept files name the classes
that a function takes: one that is renamed makes those of an earlier version unreadable.
"""

from collections.abc import Callable
from typing import Any

from numba import njit

Function = Callable[..., Any]

# Sums may be taken in any order, so that several numbers are added at a time.
ANY_ORDER = frozenset({"reassoc", "contract", "nsz"})
# A product and a sum may be rounded once, which is more exact; else as written.
AS_WRITTEN = frozenset({"contract"})


def compiled(function: Function, rounding: frozenset[str] = ANY_ORDER) -> Function:
    """The function in machine code, which lets other threads run while it works."""
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": set(rounding)}
    try:
        made: Function = njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep it: every process compiles anew, for some seconds
        made = njit(**options)(function)
    return made
