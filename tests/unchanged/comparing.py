"""Recorded figures against those of now: to the bit, or nearly on another kind of machine.

Only what was recorded is compared; figures that came later are no difference.
"""

import json
from collections.abc import Iterator, Mapping
from math import isclose
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("recorded.json")
# Recorded name of a figure, method or setting → what it is called now.
RENAMED: dict[str, str] = {}
# Of figures that follow the weights smoothly, and so are nearly the same on every machine.
NEARLY = 1e-3
SMOOTH = {
    "rmse_db", "rmse_past_db", "rmse_constant_db", "norm", "layer_norms.0", "layer_norms.1",
    "layer_norms.2", "points", "points_before", "points_share", "kept_share", "measurements",
    "label_offset_dbm", "interval_s", "begun",
}  # fmt: skip
# Of figures that are counted or given, and so are the same on every machine.
COUNTED = {
    "attack", "cell", "configuration", "defence", "defended", "epsg", "n", "round", "rounds", "seed",
    "size", "start", "step", "target", "test_points", "turns", "user", "users",
}  # fmt: skip
_SHOWN = 12


def load_recorded(path: Path = RECORDED) -> dict[str, Any]:
    """The fingerprint of the machine, and figures by run."""
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content


def differences(recorded: Any, now: Any, *, exact: bool) -> list[str]:
    """``rows.rmse_db: 7.0646 → 7.0651``, one for each figure that changed; empty if none did."""
    return list(_differences(_renamed(recorded), now, "", exact))


def message(run: str, changed: list[str]) -> str:
    """For an assertion: the run, and what changed, before → now."""
    more = f"\n  … and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
    return (
        f"{run}: {len(changed)} figures changed (before → now); if that was meant, record them "
        f"again with python -m tests.unchanged.record:\n  " + "\n  ".join(changed[:_SHOWN]) + more
    )


def _differences(before: Any, now: Any, path: str, exact: bool) -> Iterator[str]:
    if isinstance(before, Mapping) and "values" in before:
        yield from _of_column(before, now, path, exact)
    elif isinstance(before, Mapping) and isinstance(now, Mapping):
        for name, value in before.items():
            inner = f"{path}.{name}" if path else name
            if name in now:
                yield from _differences(value, now[name], inner, exact)
            else:
                yield f"{inner}: {_short(value)} → not there"
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for place, (was, is_now) in enumerate(zip(before, now, strict=True)):
            if not _same(was, is_now, path, exact):
                yield f"{path}[{place}]: {was!r} → {is_now!r}"
    elif not _same(before, now, path, exact):
        yield f"{path}: {_short(before)} → {_short(now)}"


def _of_column(before: Mapping[str, Any], now: Any, path: str, exact: bool) -> Iterator[str]:
    """A long column: its hash decides where bits count, its rounded values say what changed."""
    if not isinstance(now, Mapping):
        yield f"{path}: {_short(before['values'])} → {_short(now)}"
        return
    changed = list(_differences(before["values"], now["values"], path, exact))
    yield from changed
    if exact and not changed and before["bits"] != now["bits"]:
        yield f"{path}: {_short(before['values'])} → the same to six digits, in other bits"


def _same(before: Any, now: Any, path: str, exact: bool) -> bool:
    if exact or _ends(path, COUNTED):
        return bool(before == now)
    if _ends(path, SMOOTH) and isinstance(before, float | int) and isinstance(now, float | int):
        return isclose(before, now, rel_tol=NEARLY)
    return True


def _ends(path: str, names: set[str]) -> bool:
    return any(f".{path}".endswith(f".{name}") for name in names)


def _renamed(recorded: Any) -> Any:
    """Under today's names, whether they stand as a figure's name or in a column."""
    if isinstance(recorded, Mapping):
        return {RENAMED.get(name, name): _renamed(value) for name, value in recorded.items()}
    if isinstance(recorded, list):
        return [_renamed(each) for each in recorded]
    return RENAMED.get(recorded, recorded) if isinstance(recorded, str) else recorded


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
