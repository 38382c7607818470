"""Recorded figures against those of now: to the bit, or nearly on another kind of machine.

Only what was recorded is compared; figures that came later are no difference.
"""

import json
import re
from collections.abc import Iterator, Mapping
from math import isclose
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("recorded.json")
# Recorded name of a figure, method or setting → what it is called now.
RENAMED = {"neurons": "first_layer", "under.neurons": "under.first_layer"}

# On another kind of machine what follows the weights smoothly is nearly the same,
NEARLY = 1e-3
SMOOTH = {
    "rmse_db", "rmse_past_db", "rmse_constant_db", "norm", "layer_norms", "points", "points_share",
    "points_before", "kept_share", "label_offset_dbm", "interval_s", "begun", "measurements",
}  # fmt: skip
# what is counted or given is the same,
COUNTED = {
    "attack", "cell", "claim", "configuration", "count", "defence", "defended", "epsg", "n",
    "round", "rounds", "seed", "size", "start", "step", "target", "test_points", "turns", "user",
    "users",
}  # fmt: skip
# and of a run's other numbers, as an attack may end elsewhere, few are far off.
FAR, FEW = 0.05, 0.1

NOT_THERE = "not there"
# What tells one row of a table from another.
KEYS = ("configuration", "attack", "target", "user", "seed", "round", "rank")
_SHOWN = 12

Flat = dict[str, Any]


def load_recorded(path: Path = RECORDED) -> dict[str, Any]:
    """The fingerprint of the machine, and figures by run."""
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content


def changes(recorded: Mapping[str, Any], now: Mapping[str, Any], *, exact: bool) -> list[str]:
    """``rows.rmse_db[2] (user ann): 7.06 → 7.07``, a line for each figure; empty if none did."""
    was, is_now = dict(_flat(_renamed(recorded))), dict(_flat(now))
    pairs = {label: (value, is_now.get(label, NOT_THERE)) for label, value in was.items()}
    changed = _changed_bits(pairs) if exact else _changed_clearly(pairs)
    return [
        f"{label}{_row(label, was)}: {pairs[label][0]!r} → {pairs[label][1]!r}" for label in changed
    ]


def message(run: str, changed: list[str]) -> str:
    """For an assertion: the run, and what changed."""
    more = [f"… and {len(changed) - _SHOWN} more"] if len(changed) > _SHOWN else []
    what_to_do = "if that is meant, run python -m tests.unchanged.record, and say why in the commit"
    return "\n  ".join([f"{run} changed; {what_to_do}:", *changed[:_SHOWN], *more])


def _changed_bits(pairs: Mapping[str, tuple[Any, Any]]) -> list[str]:
    return [label for label, (before, now) in pairs.items() if before != now]


def _changed_clearly(pairs: Mapping[str, tuple[Any, Any]]) -> list[str]:
    found, far, others = [], [], 0
    for label, (before, now) in pairs.items():
        name = _name(label)
        if now == NOT_THERE:
            found.append(label)
        elif name in SMOOTH | COUNTED:
            found += [] if _is_near(before, now, NEARLY * (name in SMOOTH)) else [label]
        elif isinstance(before, float):
            others += 1
            far += [] if _is_near(before, now, FAR) else [label]
    return found + (far if len(far) > FEW * others else [])


def _is_near(before: Any, now: Any, tolerance: float) -> bool:
    numbers = isinstance(before, float | int) and isinstance(now, float | int)
    return isclose(before, now, rel_tol=tolerance) if numbers else before == now


def _flat(figures: Any, label: str = "") -> Iterator[tuple[str, Any]]:
    """Each figure with its place, such as ``rows.rmse_db[2]``."""
    if isinstance(figures, Mapping) and "values" in figures:
        yield from _flat(figures["values"], label)
        yield f"{label}, all bits", figures["bits"]
    elif isinstance(figures, Mapping):
        for name, value in figures.items():
            yield from _flat(value, f"{label}.{name}" if label else name)
    elif isinstance(figures, list):
        for place, value in enumerate(figures):
            yield f"{label}[{place}]", value
    else:
        yield label, figures


def _name(label: str) -> str:
    """Of the figure alone: ``rows.rmse_db[2]`` → ``rmse_db``, ``history.norms.0`` → ``norms``."""
    return re.sub(r"(\.\d+)?(\[\d+\])?$", "", label).rpartition(".")[2]


def _row(label: str, figures: Flat) -> str:
    """`` (attack dlg, round 3)``, where that tells the row from others."""
    found = re.fullmatch(r"(.*?)\.[^.]+(?:\.\d+)?(\[\d+\])", label)
    if found is None:
        return ""
    table, place = found.groups()
    named = {key: figures.get(f"{table}.{key}{place}") for key in KEYS}
    known = ", ".join(f"{key} {value}" for key, value in named.items() if value is not None)
    return f" ({known})" if known else ""


def _renamed(recorded: Any) -> Any:
    """Under today's names, whether they stand as a figure's name or in a column."""
    if isinstance(recorded, Mapping):
        return {RENAMED.get(name, name): _renamed(value) for name, value in recorded.items()}
    if isinstance(recorded, list):
        return [_renamed(each) for each in recorded]
    return RENAMED.get(recorded, recorded) if isinstance(recorded, str) else recorded
