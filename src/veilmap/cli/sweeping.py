"""What the commands that run many runs share: their data, a progress bar, Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veilmap.cli.console import progress, say
from veilmap.cli.data import read_and_say
from veilmap.cli.interrupts import say_what_is_kept
from veilmap.cli.timing import Pace
from veilmap.measurements import Measurements
from veilmap.output import refuse_no_folder
from veilmap.sources.columns import Columns
from veilmap.sources.reading import Reading
from veilmap.sweeping.case import Case
from veilmap.sweeping.record import Record
from veilmap.sweeping.sweep import Hooks


def other_data(data: str | None, columns: Columns, reading: Reading) -> Measurements | None:
    """The measurements given in place of those that a spec names."""
    return None if data is None else read_and_say(data, columns, reading)


@contextmanager
def swept_with(out: Path) -> Iterator[Hooks]:
    """A progress bar over all runs; an interrupt says what is kept."""
    refuse_no_folder(out)
    counts, pace = {"done": 0, "all": 0}, Pace()
    with progress() as bar:
        job = bar.add_task("running", total=None)

        def begin(runs: int, kept: int) -> None:
            counts.update(done=kept, all=runs)
            before = f", {kept:,} of them from before" if kept else ""
            say(f"{runs:,} runs{before}")
            bar.update(job, total=runs, completed=kept)

        def one_more(case: Case, record: Record) -> None:
            counts["done"] += 1
            pace.add(record.seconds)
            bar.advance(job)
            if record.failed is not None:
                say(f"no figures: {case.settings.configuration}, seed {case.seed}: {record.failed}")

        def stopped() -> str:
            kept = f"{counts['done']:,} of {counts['all']:,} runs are kept in {out}"
            return f"stopped; {kept}; the same command goes on from there"

        with say_what_is_kept(bar, stopped):
            yield Hooks(begin, one_more)
    say(pace.words())
