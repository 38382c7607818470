"""What a sweep leaves besides its runs: rows, and pictures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.files import PRIVATE, write_whole
from veilmap.metrics.rows import TrialRow
from veilmap.study.phones import StepSummary
from veilmap.sweeping.selection import SweepRow
from veilmap.sweeping.spec import Spec
from veilmap.sweeping.spec_result import SpecResult
from veilmap.sweeping.sweep import Sweep

RUNS = "runs"
RESULTS = "results.json"
ROWS = "rows.parquet"
Summary = tuple[Mapping[str, Any], str, list[SweepRow]]  # keys, attack, the rows of all seeds


@dataclass(frozen=True)
class LabelledRow:
    """A row of a trial with the label of its spec, its keys, and what phones did step by step."""

    label: str
    keys: Mapping[str, Any]
    row: TrialRow
    steps: tuple[StepSummary, ...]

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it; the keys distinguish runs in ``configuration``."""
        return {
            **self.row.as_dict(),
            "label": self.label,
            "configuration": " | ".join((self.label, *map(str, self.keys.values()))),
            "trained": self.row.configuration,
            **({} if self.row.data else {"defences": [asdict(step) for step in self.steps]}),
            **{f"key_{name}": value for name, value in self.keys.items()},
        }

    def columns(self) -> dict[str, Any]:
        """As a table has it: keys as text, figures as numbers, and no steps."""
        return {
            name: str(value) if name.startswith("key_") else value
            for name, value in self.as_dict().items()
            if not isinstance(value, list | dict)
        }


def rows_of(spec: Spec, result: SpecResult) -> list[LabelledRow]:
    """One per run and attack."""
    return [
        LabelledRow(spec.label, keys, row, trial.steps)
        for keys, trial in result.runs
        for row in trial.rows
    ]


def guesses_of(spec: Spec, result: SpecResult) -> list[LabelledRow]:
    """One per run and guess that sees no message."""
    return [
        LabelledRow(spec.label, keys, row, trial.steps)
        for keys, trial in result.runs
        for row in trial.guesses
    ]


def write_rows(folder: Path, rows: Sequence[LabelledRow]) -> None:
    """As Parquet."""
    packed = BytesIO()
    columns = [row.columns() for row in rows]
    pl.DataFrame(columns, infer_schema_length=None).write_parquet(packed)
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


def summary(result: SpecResult) -> list[Summary]:
    """For every combination of keys and every attack, the rows of its seeds."""
    return _by_keys((keys, row) for keys, trial in result.runs for row in trial.rows)


def guess_summary(result: SpecResult) -> list[Summary]:
    """The same of the guesses that see no message."""
    return _by_keys((keys, row) for keys, trial in result.runs for row in trial.guesses)


def _by_keys(rows: Iterable[tuple[Mapping[str, Any], TrialRow]]) -> list[Summary]:
    found: dict[tuple[Any, ...], Summary] = {}
    for keys, row in rows:
        key = (*keys.items(), row.attack)
        found.setdefault(key, (keys, row.attack, []))[2].append(SweepRow(keys, row))
    return list(found.values())
