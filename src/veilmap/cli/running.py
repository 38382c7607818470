"""Options, progress bar and Ctrl-C of the commands that run many trials."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from veilmap.cli.console import progress, say
from veilmap.cli.data import read_and_say
from veilmap.cli.file_options import FileOptions, grouped
from veilmap.cli.interrupts import say_what_is_kept
from veilmap.cli.timing import RunTimer
from veilmap.experiments.result import TrialResult
from veilmap.experiments.schedule import Progress
from veilmap.experiments.trial import Trial
from veilmap.measurements import clock_text
from veilmap.output import refuse_no_folder
from veilmap.wording import counted


@dataclass(frozen=True)
class RunOptions:
    """Options of all runs of a command.

    Attributes:
        data: measurements to use instead of the named ones; a file, a folder or an archive.
        cell: the cell in them; the densest by default.
        target: the user to attack, or the beginning of the name; the densest by default.
        quick: smoke test with little data, few steps and one seed; its figures are meaningless.
        jobs: number of parallel runs; by default one per core.
        fresh: recompute cached results.
    """

    data: str | None = None
    cell: str | None = None
    target: str | None = None
    quick: bool = False
    jobs: int | None = None
    fresh: bool = False


Runs = Annotated[RunOptions, grouped("Runs", 1)]


@contextmanager
def run_with(options: RunOptions, source: FileOptions, out: Path) -> Iterator[dict[str, Any]]:
    """The keywords of ``sweep`` and ``reproduce``; their progress is shown."""
    data = None
    if options.data is not None:
        data = read_and_say(options.data, source.columns, source.reading)
        say(f"{data.source}: {clock_text(data.timezone, data.timezone_by)}")
    timer = RunTimer()
    with trials_shown(out, timer) as shown:
        yield {**vars(options), "data": data, "out": out, "progress": shown}
    if words := timer.words():
        say(words)


@contextmanager
def trials_shown(out: Path, timer: RunTimer) -> Iterator[Progress]:
    """A progress bar over all trials; an interrupt reports what is kept."""
    refuse_no_folder(out)
    with progress() as bar:
        job = bar.add_task("running", total=None)

        def begin(trials: int, cached: int) -> None:
            bar.update(job, total=trials, completed=cached)

        def one_more(trial: Trial, result: TrialResult) -> None:
            timer.add(result.seconds)
            bar.advance(job)

        def stopped() -> str:
            done, runs = bar.tasks[job].completed, counted(int(bar.tasks[job].total or 0), "run")
            return f"stopped; {done:,.0f} of {runs} kept in {out}; rerun the command to resume"

        with say_what_is_kept(bar, stopped):
            yield Progress(begin, one_more, say)
