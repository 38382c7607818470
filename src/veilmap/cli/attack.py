"""``veilmap attack``."""

from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from veilmap.attacks.heatmap import Heatmap
from veilmap.attacks.methods import METHODS
from veilmap.attacks.search import Search
from veilmap.cli.console import progress, say, stdout, table
from veilmap.cli.data import read_and_say
from veilmap.cli.options import ColumnOptions, ReadingOptions
from veilmap.errors import unknown_choice
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.study.attack import attack
from veilmap.study.attack_files import AttackFolder
from veilmap.study.attack_run import AttackRun
from veilmap.study.attack_settings import AttackSettings, DlgSettings, Who
from veilmap.study.run_folder import RunFolder

DlgOptions = Annotated[DlgSettings, Parameter(name="*", group=Group("dlg", sort_key=1))]
SearchOptions = Annotated[Search, Parameter(name="*", group=Group("search", sort_key=2))]
HeatmapOptions = Annotated[Heatmap, Parameter(name="*", group=Group("heatmap", sort_key=3))]

# What the table shows: the figure, how it reads, its format.
FIGURES = (
    ("emd_m", "EMD to the user's points, m", ",.0f"),
    ("emd_paper", "EMD in the paper's unit, √m", ".1f"),
    ("emd_random_paper", "  of as many random points", ".1f"),
    ("cloud_emd_m", "EMD of the whole heat map, m", ",.0f"),
    ("round_emd_m", "EMD in one round, median, m", ",.0f"),
    ("diverged_share", "left the area", ".0%"),
    ("distance_m", "distance to the centroid, mean inside, m", ",.0f"),
    ("distance_median_m", "  median of all, m", ",.0f"),
    ("recall_25m", "top 5 places found within 25 m", ".0%"),
    ("recall_50m", "within 50 m", ".0%"),
    ("recall_100m", "within 100 m", ".0%"),
    ("home_error_m", "error of home, m", ",.0f"),
    ("work_error_m", "error of work, m", ",.0f"),
    ("iterations", "iterations, mean", ",.0f"),
    ("seconds", "seconds in all", ",.3g"),
)


def attack_(
    run: Path,
    *,
    method: str = ",".join(METHODS),
    target: str | None = None,
    secure_aggregation: bool = False,
    data: str | None = None,
    cell: str | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    plot: bool = False,
    theory: bool = False,
    seed: int = 0,
    dlg: DlgOptions = DlgSettings(),
    search: SearchOptions = Search(),
    heatmap: HeatmapOptions = Heatmap(),
    columns: ColumnOptions = Columns(),
    reading: ReadingOptions = Reading(),
) -> None:
    """Play the curious server: find where a user was from the updates alone.

    Args:
        run: the folder that "veilmap train --out" made, or a transcript of any other trainer.
        method: one or more of dlg, search, neurons and heatmap, with commas between them.
        target: the user to find; by default the one with the most points.
        secure_aggregation: attack the weighted sum of all users, the only thing a server sees then.
        data: the measurements, to compare with where the user really was; a run knows its own.
        cell: the cell in them, for a transcript.
        out: folder for results.json and found.geojson. Default: attack in the run's folder.
        overwrite: replace earlier results there.
        plot: draw maps, the path of an attack and its course over the rounds into that folder.
        theory: also compute what Theorems 1 and 2 predict for each round.
        seed: of random starts and of the random reference.
    """
    folder = AttackFolder(RunFolder(run).attack if out is None else out)
    if not overwrite:
        folder.refuse_finished()
    methods = tuple(name.strip() for name in method.split(",") if name.strip())
    for name in methods:
        if name not in METHODS:
            raise unknown_choice("method", name, METHODS)
    who = Who(methods, target, secure_aggregation, seed)  # type: ignore[arg-type]
    settings = AttackSettings(who, dlg, search, heatmap)
    measurements = None if data is None else read_and_say(data, columns, reading)
    with progress() as bar:
        job = bar.add_task("attacking", total=None)
        result = attack(
            run,
            settings,
            data=measurements,
            cell=cell,
            timezone=reading.timezone,
            keep_path=plot,
            theory=theory,
            on_begin=lambda count: bar.update(job, total=count),
            on_done=lambda count: bar.advance(job, count),
        )
    _show(result)
    folder.write(result)
    _tell(result, folder, plot)


def _show(run: AttackRun) -> None:
    known = run.header.side_knowledge
    say(f"{run.target}: {len(run.norms)} rounds, {run.configuration}, {_size(run)}")
    say(f"oracle, known to no real server: {', '.join(run.oracle) or 'nothing'}")
    if run.truth is None:
        say(f"no truth: {run.why_no_truth}")
    stdout.print()
    figures = table(None, "", *run.scores)
    for name, text, spec in FIGURES:
        values = [scores.text(name, spec) for scores in run.scores.values()]
        if any(getattr(scores, name) is not None for scores in run.scores.values()):
            figures.add_row(text, *values)
    stdout.print(figures)
    if known.interval_s > 3 * 3600:
        say(
            "\nrounds this long have no hour of their day: home is the heaviest place, work unknown"
        )


def _size(run: AttackRun) -> str:
    return f"area {run.area.width_m / 1000:.2f} km x {run.area.height_m / 1000:.2f} km"


def _tell(run: AttackRun, folder: AttackFolder, plot: bool) -> None:
    say(f"\nwrote {folder.results} (figures) and {folder.places} (places, for QGIS)")
    if plot:
        # Matplotlib is slow to load and needed only here.
        from veilmap.report.attack_pictures import write_attack_pictures

        for path in write_attack_pictures(run, folder.path):
            say(f"wrote {path}")
    say("these files show where a person was; keep them as you keep the data")
