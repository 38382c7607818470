"""The record of a run that tables, reports and comparisons read (docs/results.md)."""

import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from veilmap.model.device import DeviceName
from veilmap.settings import plain
from veilmap.study.prepare import Prepared

SCHEMA = 1
NO_ATTACK = "none"
VERSIONED = ("veilmap", "numpy", "torch", "polars", "pyproj")


def results(
    settings: dict[str, Any],
    rows: list[dict[str, Any]],
    history: list[dict[str, Any]],
    guesses: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The content of ``results.json``; guesses are rows of their own, so that no attack is one."""
    content = {"schema": SCHEMA, "settings": settings, "rows": rows, "history": history}
    return content if guesses is None else {**content, "guesses": guesses}


def result_row(
    configuration: str,
    seed: int,
    *,
    attack: str = NO_ATTACK,
    target: str | None = None,
    **figures: Any,
) -> dict[str, Any]:
    """One row: what was run, and the figures measured (``rounds``, ``rmse_db``, …)."""
    return {
        "configuration": configuration,
        "attack": attack,
        "target": target,
        "seed": seed,
        **figures,
    }


def settings_record(prepared: Prepared, device: DeviceName = "cpu") -> dict[str, Any]:
    """The settings as given and as resolved, the data and how it was read, versions and device."""
    data, plan = prepared.data, prepared.plan
    return {
        **plain(prepared.settings),
        "resolved": {
            "configuration": prepared.settings.configuration,
            "cell": prepared.cell,
            "users": len(prepared.users),
            "rounds": len(prepared.rounds),
            "test_points": len(prepared.test),
            "area_m": asdict(plan.area),
            "epsg": data.projection.epsg,
            "scaler": asdict(plan.scaler),
            "label_offset_dbm": plan.label_offset_dbm,
            "oracle": list(prepared.settings.oracle),
        },
        "data": {
            "source": data.source,
            "read_with": dict(data.read_with),
            "dropped": {fault.kind: fault.rows for fault in data.dropped},
            "files_left_out": len(data.left_out),
            "rows_of_cell": len(data),
            "timezone": data.timezone,
            "timezone_by": data.timezone_by,
            "fingerprint": data.fingerprint,
        },
        "versions": versions(),
        "device": device,
    }


def versions(packages: Sequence[str] = VERSIONED) -> dict[str, str]:
    """Of Python and of what the numbers depend on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
