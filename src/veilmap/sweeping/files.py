"""What a sweep leaves besides its runs: rows, and pictures."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.files import PRIVATE, write_whole
from veilmap.sweeping.selection import SweepRow
from veilmap.sweeping.spec import Spec
from veilmap.sweeping.spec_result import SpecResult
from veilmap.sweeping.sweep import Sweep

RUNS = "runs"
RESULTS = "results.json"
ROWS = "rows.parquet"


def rows_of(spec: Spec, result: SpecResult) -> list[dict[str, Any]]:
    """One per run and attack, as files have it; keys tell the runs apart in ``configuration``."""
    return [
        {
            **row.as_dict(),
            "label": spec.label,
            "configuration": " | ".join((spec.label, *(str(each) for each in keys.values()))),
            "trained": row.configuration,
            **({} if row.data else {"defences": [step.as_dict() for step in trial.steps]}),
            **{f"key_{name}": value for name, value in keys.items()},
        }
        for keys, trial in result.runs
        for row in trial.rows
    ]


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    """As Parquet: keys as text, figures as numbers; what phones did step by step is left out."""
    flat = [
        {
            name: str(value) if name.startswith("key_") else value
            for name, value in row.items()
            if not isinstance(value, list | dict)
        }
        for row in rows
    ]
    packed = BytesIO()
    pl.DataFrame(flat, infer_schema_length=None).write_parquet(packed)
    write_whole(folder / ROWS, packed.getvalue())


def draw_pictures(
    sweep: Sweep, spec: Spec, result: SpecResult, attack: str, folder: Path | None
) -> Iterator[str]:
    """Draw and write the pictures of a spec, if there is a folder; gives the name of each file."""
    if folder is None:
        return
    # Matplotlib is slow to load.
    from veilmap.canvas import png
    from veilmap.sweeping.drawings import Drawings

    drawings = Drawings(sweep.cohort(spec), spec, result, attack)
    for number, picture in enumerate(spec.pictures, 1):
        figure = drawings.draw(picture)
        if figure is not None:
            name = f"{spec.label.replace(':', '-')}{'' if number == 1 else f'-{number}'}.png"
            write_whole(folder / name, png(figure), PRIVATE)
            yield name


def summary(result: SpecResult) -> list[tuple[Mapping[str, Any], str, list[SweepRow]]]:
    """For every combination of keys and every attack, the rows of its seeds."""
    found: dict[tuple[Any, ...], tuple[Mapping[str, Any], str, list[SweepRow]]] = {}
    for keys, trial in result.runs:
        for row in trial.rows:
            key = (*keys.items(), row.attack)
            found.setdefault(key, (keys, row.attack, []))[2].append(SweepRow(keys, row))
    return list(found.values())
