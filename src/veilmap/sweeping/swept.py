"""The study behind ``veilmap sweep``: one's own grid of settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from veilmap.files import write_json, write_whole
from veilmap.measurements import Measurements
from veilmap.output import held
from veilmap.study.pool import all_jobs
from veilmap.study.results import results, versions
from veilmap.sweeping.figures import Figures, verdicts
from veilmap.sweeping.files import RESULTS, RUNS, draw_pictures, rows_of, write_rows
from veilmap.sweeping.spec import Spec, read_spec
from veilmap.sweeping.stage import Given
from veilmap.sweeping.sweep import Hooks, Sweep, seeds_of
from veilmap.sweeping.verdict import Verdict

FRONTIER = "frontier.png"


@dataclass(frozen=True)
class Swept:
    """A finished sweep.

    Attributes:
        spec: what was run.
        figures: every run with its keys.
        verdicts: for each claim, under every attack.
        pictures: the files drawn.
    """

    spec: Spec
    figures: Figures
    verdicts: tuple[Sequence[Verdict], ...]
    pictures: tuple[str, ...] = ()

    @property
    def rows(self) -> pl.DataFrame:
        """One per run and attack."""
        return pl.DataFrame(rows_of(self.spec, self.figures), infer_schema_length=None)


def sweep(
    spec: Spec | str | Path,
    *,
    out: str | Path | None = None,
    data: Measurements | None = None,
    cell: str | None = None,
    target: str | None = None,
    seeds: int = 3,
    quick: bool = False,
    jobs: int | None = None,
    hooks: Hooks = Hooks(),
) -> Swept:
    """Run every combination of a grid with every seed, and compare.

    Args:
        spec: the grid, or the TOML file that it is in.
        out: a folder for runs, rows and pictures. The same call later goes on from what is
            finished there; a file that has grown adds only what is new.
        data: measurements in place of those that the spec names.
        cell: the cell in them; the densest by default.
        target: the user to attack; the densest by default.
        seeds: how often everything is run.
        quick: little data, few steps, one seed: shows that it runs, the numbers mean nothing.
        jobs: how many runs at once; by default one per core. A backend of joblib that the caller
            has set, such as Dask's, is used instead.
        hooks: who is told how it gets on.

    Raises:
        UserError: the file or the data do not allow it.
    """
    given, wanted = Given.of(data, cell, target), seeds_of(seeds, quick)
    spec = spec if isinstance(spec, Spec) else read_spec(Path(spec))
    folder = None if out is None else Path(out)
    with held(folder, RUNS):
        work = Sweep([spec], wanted, given, quick)
        figures = work.run(folder and folder / RUNS, jobs or all_jobs(), hooks)[spec.label]
        judged = tuple(verdicts(spec.claims, figures))
        if folder is None:
            return Swept(spec, figures, judged)
        return Swept(spec, figures, judged, _write(folder, work, figures))


def _write(folder: Path, work: Sweep, figures: Figures) -> tuple[str, ...]:
    (spec,) = work.specs
    rows, names = rows_of(spec, figures), list[str]()
    if rows:
        write_rows(folder, rows)
        attack = figures.attacks[0] if figures.attacks else ""
        names += draw_pictures(work, spec, figures, attack, folder)
    if rows and figures.attacks:
        names += _draw_frontier(folder, spec, figures)
    # Last: who finds it finds all of them.
    about: dict[str, Any] = {"spec": spec.label, "versions": versions()}
    write_json(folder / RESULTS, results(about, rows, []))
    return tuple(names)


def _draw_frontier(folder: Path, spec: Spec, figures: Figures) -> list[str]:
    """What each configuration hides against what it costs, one panel per attack."""
    from veilmap.canvas import png
    from veilmap.report.draw_tradeoff import draw_tradeoff

    attacked = [row for row in figures.rows() if row["attack"] in figures.attacks]
    drawn = draw_tradeoff(attacked, "emd_paper", "EMD, √m: up is private", spec.title)
    write_whole(folder / FRONTIER, png(drawn))
    return [FRONTIER]
