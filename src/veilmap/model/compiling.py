"""Compilation with numba, if it is installed.

What is compiled is kept beside the source until its file changes.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache

Function = Callable[..., Any]

# Sums may be taken in any order, so that several numbers are added at a time.
ANY_ORDER = frozenset({"reassoc", "contract", "nsz"})
# A product and a sum may be rounded once, which is more exact; else as written.
AS_WRITTEN = frozenset({"contract"})


def compiled(function: Function, rounding: frozenset[str] = ANY_ORDER) -> Function:
    """The function in machine code, which lets other threads run while it works."""
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "fastmath": set(rounding)}
    made: Any = njit(**options)(function)
    with suppress(RuntimeError):  # no folder for it: every process compiles for some seconds
        made._cache = _Cache(function)  # type: ignore[no-untyped-call]
    return made  # type: ignore[no-any-return]


class _Cache(FunctionCache):
    """Numba's cache, but a file that cannot be read or written (a full disk) is no error."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return None also if the file does not unpickle: a class in it may have been renamed."""
        with suppress(Exception):
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save it, or remove the index: without new data it names those of an older source."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except Exception:
            with suppress(OSError):
                Path(self._cache_file._index_path).unlink()
