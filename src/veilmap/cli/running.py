"""What the commands that run many trials share: their data, a progress bar, Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veilmap.cli.console import progress, say
from veilmap.cli.data import read_and_say
from veilmap.cli.interrupts import say_what_is_kept
from veilmap.cli.timing import Pace
from veilmap.experiments.result import TrialResult
from veilmap.experiments.schedule import Progress
from veilmap.experiments.trial import Trial
from veilmap.measurements import Measurements
from veilmap.output import refuse_no_folder
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.wording import counted


def other_data(data: str | None, columns: Columns, reading: Reading) -> Measurements | None:
    """The measurements given in place of those that a spec names."""
    return None if data is None else read_and_say(data, columns, reading)


@contextmanager
def trials_shown(out: Path, pace: Pace) -> Iterator[Progress]:
    """A progress bar over all trials; an interrupt says what is kept."""
    refuse_no_folder(out)
    counts = {"done": 0, "all": 0}
    with progress() as bar:
        job = bar.add_task("running", total=None)

        def begin(trials: int, cached: int) -> None:
            counts.update(done=cached, all=trials)
            bar.update(job, total=trials, completed=cached)

        def one_more(trial: Trial, result: TrialResult) -> None:
            counts["done"] += 1
            pace.add(result.seconds)
            bar.advance(job)

        def stopped() -> str:
            kept = f"{counts['done']:,} of {counted(counts['all'], 'run')} kept in {out}"
            return f"stopped; {kept}; rerun the command to resume"

        with say_what_is_kept(bar, stopped):
            yield Progress(begin, one_more, say)
