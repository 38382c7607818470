"""The study behind ``veilmap sweep``: one's own grid of settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from veilmap.experiments.pool import all_jobs
from veilmap.experiments.schedule import Progress
from veilmap.files import write_json, write_whole
from veilmap.measurements import Measurements
from veilmap.metrics.figure_names import EMD
from veilmap.output import held
from veilmap.study.results import results, versions
from veilmap.sweeping.cohort import Given
from veilmap.sweeping.decision import Decision
from veilmap.sweeping.files import RESULTS, RUNS, draw_pictures, guesses_of, rows_of, write_rows
from veilmap.sweeping.spec import Spec, read_spec
from veilmap.sweeping.spec_result import SpecResult, decisions
from veilmap.sweeping.sweep import Sweep, seeds_of

FRONTIER = "frontier.png"


@dataclass(frozen=True)
class SweepResult:
    """A finished sweep.

    Attributes:
        spec: what was run.
        figures: every run with its keys.
        verdicts: what became of each claim, under every attack.
        pictures: the files drawn.
    """

    spec: Spec
    figures: SpecResult
    verdicts: tuple[Sequence[Decision], ...]
    pictures: tuple[str, ...] = ()

    @property
    def rows(self) -> pl.DataFrame:
        """One per run and attack."""
        rows = [row.as_dict() for row in rows_of(self.spec, self.figures)]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def guesses(self) -> pl.DataFrame:
        """The same of the guesses that see no message: one per run and guess."""
        rows = [row.as_dict() for row in guesses_of(self.spec, self.figures)]
        return pl.DataFrame(rows, infer_schema_length=None)


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
    fresh: bool = False,
    progress: Progress = Progress(),
) -> SweepResult:
    """Run every combination of a grid with every seed, and compare.

    Args:
        spec: the grid, or the TOML file that it is in.
        out: a folder for runs, rows and pictures. The same call later reuses what is cached there;
            a file that has grown adds only what is new.
        data: measurements in place of those that the spec names.
        cell: the cell in them; the densest by default.
        target: the user to attack; the densest by default.
        seeds: how often everything is run.
        quick: little data, few steps, one seed: shows that it runs, the numbers mean nothing.
        jobs: how many runs at once; by default one per core. A backend of joblib that the caller
            has set, such as Dask's, is used instead.
        fresh: compute again what is cached in ``out``.
        progress: callbacks.

    Raises:
        UserError: the file or the data do not allow it.
    """
    given, wanted = Given(data, cell, target), seeds_of(seeds, quick)
    spec = spec if isinstance(spec, Spec) else read_spec(Path(spec))
    folder = None if out is None else Path(out)
    with held(folder, RUNS):
        work = Sweep([spec], wanted, given, quick)
        runs = folder and folder / RUNS
        found = work.run(runs, jobs or all_jobs(), progress, fresh=fresh)[spec.label]
        judged = tuple(decisions(spec.claims, found))
        pictures = () if folder is None else _write(folder, work, found)
        return SweepResult(spec, found, judged, pictures)


def _write(folder: Path, work: Sweep, found: SpecResult) -> tuple[str, ...]:
    (spec,) = work.specs
    rows, names = rows_of(spec, found), list[str]()
    if rows:
        write_rows(folder, rows)
        attack = found.attacks[0] if found.attacks else ""
        names += draw_pictures(work, spec, found, attack, folder)
    if found.attacks:
        _draw_frontier(folder, spec, found)
        names.append(FRONTIER)
    # results.json last: its presence marks the others as complete.
    about = {"spec": spec.label, "versions": versions()}
    lines, guesses = ([row.as_dict() for row in each] for each in (rows, guesses_of(spec, found)))
    write_json(folder / RESULTS, results(about, lines, [], guesses))
    return tuple(names)


def _draw_frontier(folder: Path, spec: Spec, found: SpecResult) -> None:
    """What each configuration hides against what it costs, one panel per attack."""
    from veilmap.canvas import png
    from veilmap.report.draw_tradeoff import draw_tradeoff

    attacked = [row for row in found.rows() if row.value("attack") in found.attacks]
    guesses = [row for each in found.runs for row in each.result.guesses]
    drawn = draw_tradeoff(attacked, EMD, "EMD, √m: up is private", spec.title, guesses)
    write_whole(folder / FRONTIER, png(drawn))
