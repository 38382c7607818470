"""The rows that every table, report and comparison reads (docs/results.md)."""

from typing import Any

SCHEMA = 1
NO_ATTACK = "none"


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


def results(
    settings: dict[str, Any], rows: list[dict[str, Any]], history: list[dict[str, Any]]
) -> dict[str, Any]:
    """The content of ``results.json``."""
    return {"schema": SCHEMA, "settings": settings, "rows": rows, "history": history}
